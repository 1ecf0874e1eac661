import { MAX_NAMED_TEXT_CHARACTERS } from '../runtime/limits.ts';

const FIELD_SOURCES = ['opaque', 'output.file_name', 'output.relative_dir', 'input.user_name'] as const;

/** Where the name of a task is: a field, or a key of it where it holds a JSON object or a query string. */
export type TaskNameSource = (typeof FIELD_SOURCES)[number] | `opaque.${string}`;

export type TaskNameField = 'opaque' | 'file_name' | 'relative_dir' | 'user_name';

const KEY_PREFIX = 'opaque.';
const KEY_SOURCE = /^opaque\.[^\p{Cc}\p{Cs}]{1,128}$/u;

export function isTaskNameSource(text: string): text is TaskNameSource {
  return FIELD_SOURCES.some((source) => source === text) || KEY_SOURCE.test(text);
}

export function getTaskNameField(source: TaskNameSource): TaskNameField {
  if (source === 'output.file_name') return 'file_name';
  if (source === 'output.relative_dir') return 'relative_dir';
  return source === 'input.user_name' ? 'user_name' : 'opaque';
}

/** Reads the name from a text, in NFC; `undefined` if there is none. It may hold any characters. */
export function readTaskName(source: TaskNameSource, fullText: string): string | undefined {
  const text = fullText.slice(0, MAX_NAMED_TEXT_CHARACTERS);
  const name = source.startsWith(KEY_PREFIX)
    ? readKey(text, source.slice(KEY_PREFIX.length))
    : source === 'opaque'
      ? decodePercent(text)
      : text;
  return name === '' ? undefined : name?.normalize('NFC');
}

/** Lists the sources of names in an `opaque`: the keys of its JSON object or query string. */
export function listKeySources(opaque: string): readonly TaskNameSource[] {
  const text = opaque.slice(0, MAX_NAMED_TEXT_CHARACTERS);
  const object = parseOpaque(text);
  const keys = object === undefined ? parseQuery(text).map(([key]) => key) : Object.keys(object);
  return keys.map((key) => `${KEY_PREFIX}${key}`).filter((source) => isTaskNameSource(source));
}

function readKey(text: string, key: string): string | undefined {
  const object = parseOpaque(text);
  if (object === undefined) return parseQuery(text).find(([name]) => name === key)?.[1];
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** `opaque` is stored as it was passed: plain or percent-encoded as a whole. */
function parseOpaque(text: string): Readonly<Record<string, unknown>> | undefined {
  return parseObject(text) ?? parseObject(decodePercent(text));
}

function parseQuery(text: string): readonly (readonly [key: string, value: string])[] {
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

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return { ...value };
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
