/** Sources of names that are a whole field. */
const FIELD_SOURCES = ['opaque', 'output.file_name', 'output.relative_dir', 'input.user_name'] as const;

/** Where the name of a task is: a field, or a key of it where it holds a JSON object or a query string. */
export type TaskNameSource = (typeof FIELD_SOURCES)[number] | `opaque.${string}`;

/** The field that holds the names of tasks. */
export type TaskNameField = 'opaque' | 'file_name' | 'relative_dir' | 'user_name';

const KEY_PREFIX = 'opaque.';
const KEY_SOURCE = /^opaque\.[^\p{Cc}\p{Cs}]{1,128}$/u;

export function isTaskNameSource(text: string): text is TaskNameSource {
  return FIELD_SOURCES.some((source) => source === text) || KEY_SOURCE.test(text);
}

/** The field of a source. */
export function getTaskNameField(source: TaskNameSource): TaskNameField {
  if (source === 'output.file_name') return 'file_name';
  if (source === 'output.relative_dir') return 'relative_dir';
  return source === 'input.user_name' ? 'user_name' : 'opaque';
}

/** Reads the name from the text of a field; `undefined` if there is none. It may hold any characters. */
export function readTaskName(source: TaskNameSource, text: string): string | undefined {
  const name = source.startsWith(KEY_PREFIX)
    ? readKey(text, source.slice(KEY_PREFIX.length))
    : source === 'opaque'
      ? decodePercent(text)
      : text;
  return name === '' ? undefined : name;
}

/** `opaque` is stored as it was passed: plain or percent-encoded as a whole. */
function readKey(text: string, key: string): string | undefined {
  const decoded = decodePercent(text);
  const object = parseObject(text) ?? parseObject(decoded);
  if (object !== undefined) {
    const value = Object.hasOwn(object, key) ? object[key] : undefined;
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  }
  const query = text.includes('=') ? text : decoded;
  for (const pair of query.replace(/^\?/, '').split('&')) {
    const [name = '', ...values] = pair.split('=');
    if (decodePercent(name) === key) return decodePercent(values.join('='));
  }
  return undefined;
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
