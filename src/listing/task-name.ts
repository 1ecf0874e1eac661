import { MAX_NAMED_TEXT_CHARACTERS } from '../runtime/limits.ts';
import { cleanText } from './label-values.ts';

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

/** Makes names and keys that look alike equal. */
function tidy(text: string): string {
  return text.trim().normalize('NFC');
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
  if (name === undefined) return undefined;
  const cleaned = tidy(cleanText(name));
  return NAME.test(cleaned) ? cleaned : undefined;
}

/** Lists the sources of names in an `opaque`: the keys of its JSON object or query string. */
export function listKeySources(opaque: string): readonly TaskNameSource[] {
  const pairs = parsePairs(opaque.slice(0, MAX_NAMED_TEXT_CHARACTERS));
  return pairs.flatMap(([key]) => parseTaskNameSource(`${KEY_PREFIX}${key}`) ?? []);
}

function readKey(text: string, key: string): string | undefined {
  const value = parsePairs(text).find(([name]) => tidy(name) === key)?.[1];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

type Pairs = readonly (readonly [key: string, value: unknown])[];

/** Reads a JSON object or a query string. `opaque` is stored as passed: plain or percent-encoded as a whole. */
function parsePairs(text: string): Pairs {
  return parseObject(text) ?? parseObject(decodePercent(text)) ?? parseQuery(text);
}

function parseQuery(text: string): Pairs {
  const query = text.includes('=') ? text : decodePercent(text);
  if (!query.includes('=')) return [];
  return query
    .replace(/^\?/, '')
    .split('&')
    .map((pair) => {
      const [name = '', ...values] = pair.split('=');
      return [decodePercent(name), decodePercent(values.join('='))];
    });
}

function parseObject(text: string): Pairs | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? Object.entries(value) : undefined;
  } catch {
    return undefined;
  }
}

/** Decodes percent-encoding; `+` is a plus. A text that cannot be decoded is kept as it is. */
function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
