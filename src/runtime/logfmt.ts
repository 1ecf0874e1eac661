/** A line of JSON, as pino writes it, as a line of logfmt: the time, the level and the message, then the fields. */
export function toLogfmt(line: string): string {
  const { time, level, msg, ...fields } = parseObject(line);
  const pairs = [...flatten({ time, level, msg }), ...flatten(fields)];
  return `${pairs.map(([key, value]) => `${key}=${value}`).join(' ')}\n`;
}

/** The object that a line of JSON is. */
export function parseObject(line: string): Record<string, unknown> {
  const value: unknown = JSON.parse(line);
  return isObject(value) ? value : { msg: value };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Keys and values as they stand in a line. Objects become pairs with dotted keys, so that an error is `err.type`, `err.message`, `err.stack`. */
export function flatten(
  fields: Record<string, unknown>,
  prefix = '',
): readonly (readonly [string, string])[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    // A key has no quotes to protect it.
    const key = prefix + name.replaceAll(/[^\w.:/@-]/g, '_');
    if (isObject(value)) return flatten(value, `${key}.`);
    return value === undefined ? [] : [[key, formatValue(value)] as const];
  });
}

function formatValue(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (/^[\w.,:;/@%+*!?&()[\]{}<>|~^$#-]+$/.test(text)) return text;
  // JSON leaves a few characters raw that end a line or steer a terminal all the same.
  return JSON.stringify(text).replaceAll(/[\u007f-\u009f\u2028\u2029]/g, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
