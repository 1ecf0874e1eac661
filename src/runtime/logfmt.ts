/** Converts a JSON line of pino into a line of logfmt: time, level and message first, then the fields. */
export function toLogfmt(line: string): string {
  const { time, level, msg, ...fields } = parseObject(line);
  const pairs = [...flatten({ time, level, msg }), ...flatten(fields)];
  return `${pairs.map(([key, value]) => `${key}=${value}`).join(' ')}\n`;
}

/** Parses a JSON line. */
export function parseObject(line: string): Record<string, unknown> {
  const value: unknown = JSON.parse(line);
  return isObject(value) ? value : { msg: value };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Converts fields into escaped pairs. Nested objects get dotted keys, as in `err.message`. */
export function flatten(
  fields: Record<string, unknown>,
  prefix = '',
): readonly (readonly [string, string])[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    // Keys cannot be quoted.
    const key = prefix + name.replaceAll(/[^\w.:/@-]/g, '_');
    if (isObject(value)) return flatten(value, `${key}.`);
    return value === undefined ? [] : [[key, formatValue(value)] as const];
  });
}

function formatValue(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (/^[\w.,:;/@%+*!?&()[\]{}<>|~^$#-]+$/.test(text)) return text;
  // JSON does not escape all characters that end a line or control a terminal.
  return JSON.stringify(text).replaceAll(/[\u007f-\u009f\u2028\u2029]/g, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
