import { flatten, parseObject } from './logfmt.ts';

/** Sequences of ECMA-48, section 8.3.117. */
const COLOURS = { debug: 90, info: 32, warn: 33, error: 31, dim: 90 } as const;

/**
 * A line of JSON, as pino writes it, as a line for people: the time of the day where they are, the level, the
 * message, then the fields; the stack of an error in lines of its own.
 */
export function toPretty(line: string, isColoured: boolean): string {
  const { time, level, msg, err, ...fields } = parseObject(line);
  const paint = (colour: number, text: string): string =>
    isColoured ? `\u001b[${colour}m${text}\u001b[0m` : text;
  const pairs = flatten({ ...fields, ...messageOf(err) });
  const name = String(level);
  const parts = [
    paint(COLOURS.dim, timeOfDay(String(time))),
    paint(colourOf(name), name.toUpperCase().padEnd(5)),
    printable(String(msg)),
    ...pairs.map(([key, value]) => `${paint(COLOURS.dim, `${key}=`)}${value}`),
  ];
  return `${[parts.join(' '), ...stackOf(err)].join('\n')}\n`;
}

function colourOf(level: string): number {
  return level === 'debug' || level === 'info' || level === 'warn' ? COLOURS[level] : COLOURS.error;
}

/** `09:41:05.123`, in the time zone of the process. */
function timeOfDay(iso: string): string {
  const at = new Date(iso);
  const [hours, minutes, seconds] = [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) =>
    String(part).padStart(2, '0'),
  );
  return `${hours}:${minutes}:${seconds}.${String(at.getMilliseconds()).padStart(3, '0')}`;
}

/** An error as pino has it: type, message and stack. */
function partsOf(err: unknown): Record<string, unknown> {
  return typeof err === 'object' && err !== null ? { ...err } : {};
}

function messageOf(err: unknown): Record<string, unknown> {
  const { stack: _, ...rest } = partsOf(err);
  return err === undefined ? {} : { err: rest };
}

function stackOf(err: unknown): readonly string[] {
  const { stack } = partsOf(err);
  return typeof stack === 'string' ? stack.split('\n').map((text) => `    ${printable(text)}`) : [];
}

/** Without what steers a terminal. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, '\ufffd');
}
