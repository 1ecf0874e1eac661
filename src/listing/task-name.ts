import { MAX_NAMED_TEXT_CHARACTERS } from '../runtime/limits.ts';
import { canNormalize, cleanText, MAX_UNNORMALIZED_LENGTH } from './label-values.ts';

const FIELD_SOURCES = ['opaque', 'output.file_name', 'output.relative_dir', 'input.user_name'] as const;

/** Where the name of a task is: a field, or a key of it where it holds a JSON object or a query string. */
export type TaskNameSource = (typeof FIELD_SOURCES)[number] | `opaque.${string}`;

export type TaskNameField = 'opaque' | 'file_name' | 'relative_dir' | 'user_name';

const KEY_PREFIX = 'opaque.';
const NAME = /^.{1,128}$/su;
const KEY_SOURCE = /^opaque\.[^\p{Cc}\p{Cs}]{1,128}$/u;

/** Parses a value of `tasks.name`; `undefined` for anything else. */
export function parseTaskNameSource(text: string): TaskNameSource | undefined {
  const source = text.startsWith(KEY_PREFIX) ? `${KEY_PREFIX}${tidy(text.slice(KEY_PREFIX.length))}` : text;
  return isTaskNameSource(source) ? source : undefined;
}

function isTaskNameSource(text: string): text is TaskNameSource {
  return FIELD_SOURCES.some((source) => source === text) || KEY_SOURCE.test(text);
}

/** Makes names and keys that look alike equal. A text that can be neither becomes empty, which is no name. */
function tidy(text: string): string {
  const trimmed = text.trim();
  return canNormalize(trimmed) ? trimmed.normalize('NFC') : '';
}

export function getTaskNameField(source: TaskNameSource): TaskNameField {
  if (source === 'output.file_name') return 'file_name';
  if (source === 'output.relative_dir') return 'relative_dir';
  return source === 'input.user_name' ? 'user_name' : 'opaque';
}

/** Reads the name from a text, as a label value; `undefined` if there is none or if it is too long. */
export function readTaskName(source: TaskNameSource, fullText: string): string | undefined {
  const text = fullText.slice(0, MAX_NAMED_TEXT_CHARACTERS);
  const name = source.startsWith(KEY_PREFIX)
    ? readKey(text, source.slice(KEY_PREFIX.length))
    : source === 'opaque'
      ? decodePercent(text)
      : text;
  if (name === undefined || name.trim().length > MAX_UNNORMALIZED_LENGTH) return undefined;
  const cleaned = tidy(cleanText(name));
  return NAME.test(cleaned) ? cleaned : undefined;
}

/** Lists the sources of names in an `opaque`: the keys of its JSON object or query string. */
export function listKeySources(opaque: string): readonly TaskNameSource[] {
  const text = opaque.slice(0, MAX_NAMED_TEXT_CHARACTERS);
  const keys = readObject(text)?.map(([key]) => key) ?? splitQuery(text).map((pair) => splitPair(pair)[0]);
  return keys.flatMap((key) => parseTaskNameSource(`${KEY_PREFIX}${key}`) ?? []);
}

function readKey(text: string, key: string): string | undefined {
  const members = readObject(text);
  if (members === undefined) return findInQuery(text, key);
  const value = members.find(([name]) => tidy(name) === key)?.[1];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** The members of a JSON object. `opaque` is stored as passed: plain or percent-encoded as a whole. */
function readObject(text: string): Members | undefined {
  const decoded = decodePercent(text);
  return parseObject(text) ?? (decoded === text ? undefined : parseObject(decoded));
}

type Members = readonly (readonly [key: string, value: unknown])[];

/** An exception takes longer than reading a task, so that only a text in braces is parsed. */
function parseObject(text: string): Members | undefined {
  const trimmed = text.trim();
  if (!trimmed.startsWith('{') || !trimmed.endsWith('}')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? Object.entries(value) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the decoded value of a key. It decodes no other value: there may be thousands of pairs. */
function findInQuery(text: string, key: string): string | undefined {
  for (const pair of splitQuery(text)) {
    const [name, encodedValue] = splitPair(pair);
    if (tidy(name) === key) return decodePercent(encodedValue);
  }
  return undefined;
}

/** The pairs of a query string. */
function splitQuery(text: string): readonly string[] {
  const query = text.includes('=') ? text : decodePercent(text);
  return query.includes('=') ? query.replace(/^\?/, '').split('&') : [];
}

function splitPair(pair: string): readonly [name: string, encodedValue: string] {
  const nameEnd = pair.indexOf('=');
  return nameEnd < 0
    ? [decodePercent(pair), '']
    : [decodePercent(pair.slice(0, nameEnd)), pair.slice(nameEnd + 1)];
}

/** Decodes percent-encoding; `+` is a plus. A text that cannot be decoded is kept as it is. */
function decodePercent(text: string): string {
  return text.includes('%') && ENCODED_UTF8.test(text) ? decodeURIComponent(text) : text;
}

/**
 * Matches the texts that `decodeURIComponent` decodes (UTF-8, RFC 3629, section 4). It throws for others,
 * which is slow. `isUtf8` of Node.js needs the bytes of a text: making them would be slow, too, ten times as
 * slow as reading an ordinary text (`cost-of-names.test.ts`).
 */
const ENCODED_UTF8 = createEncodedUtf8();

function createEncodedUtf8(): RegExp {
  const tail = String.raw`%[89ab][\da-f]`;
  const character = [
    String.raw`%[0-7][\da-f]`,
    String.raw`%(?:c[2-9a-f]|d[\da-f])${tail}`,
    String.raw`%e0%[ab][\da-f]${tail}`,
    String.raw`%e[1-9abcef](?:${tail}){2}`,
    String.raw`%ed%[89][\da-f]${tail}`,
    String.raw`%f0%[9ab][\da-f](?:${tail}){2}`,
    String.raw`%f[1-3](?:${tail}){3}`,
    String.raw`%f4%8[\da-f](?:${tail}){2}`,
  ].join('|');
  return new RegExp(`^[^%]*(?:(?:${character})[^%]*)*$`, 'i');
}
