import { formatDuration, parseDuration, parseSize } from './units.ts';
import { kindOf, mismatch, show } from './problem.ts';

/** Where inside a value something stands: `[2, 'interval']`; empty for the value itself. */
export type InnerPath = readonly (string | number)[];

/** A mistake inside a value. */
export interface Issue {
  readonly path: InnerPath;
  readonly message: string;
  /** The mistake is the key at `path`, not its value. */
  readonly ofKey?: true;
}

export type Parsed<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly issues: readonly Issue[] };

/**
 * How a setting is written. `parse` takes what the file holds (text, number, boolean, list, mapping) or the
 * text of an environment variable or flag.
 */
export interface Format<T> {
  /** What the reference calls it. */
  readonly name: string;
  parse(this: void, raw: unknown): Parsed<T>;
}

export function accept<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

/** A value that is not what was expected, with the value shown. */
export function reject(expected: string, raw: unknown, hint?: string): { ok: false; issues: [Issue] } {
  return refuse(mismatch(expected, show(raw), hint));
}

/** A value that is refused with a message of its own. */
export function refuse(message: string): { ok: false; issues: [Issue] } {
  return { ok: false, issues: [{ path: [], message }] };
}

/** Node's timers hold 31 bits of milliseconds (24.8 days) and fire at once beyond: nothing may be longer. */
const MAX_DURATION_MS = 24 * 86_400_000;

/** A duration of at least `minMs`, in milliseconds. */
export function duration(minMs: number): Format<number> {
  const range = `a duration from ${formatDuration(minMs)} to ${formatDuration(MAX_DURATION_MS)}`;
  return {
    name: 'duration',
    parse(raw) {
      const ms = raw === 0 ? 0 : typeof raw === 'string' ? parseDuration(raw) : undefined;
      if (ms === undefined) return reject('a duration such as 15s', raw);
      return ms < minMs || ms > MAX_DURATION_MS ? reject(range, raw) : accept(ms);
    },
  };
}

/** A size of at least one byte, in bytes. */
export const size: Format<number> = {
  name: 'size',
  parse(raw) {
    const isText = typeof raw === 'string' || typeof raw === 'number';
    const bytes = isText ? parseSize(String(raw)) : undefined;
    if (bytes === undefined) return reject('a size such as 256MiB', raw);
    return bytes === 0 ? reject('a size of at least 1 byte', raw) : accept(bytes);
  },
};

/** A whole number within bounds. */
export function wholeNumber(min: number, max: number): Format<number> {
  return {
    name: 'number',
    parse(raw) {
      const isDigits = typeof raw === 'string' && /^\d+$/.test(raw);
      const value = isDigits ? Number(raw) : raw;
      const inRange = typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
      return inRange ? accept(value) : reject(`a whole number from ${min} to ${max}`, raw);
    },
  };
}

/** All counts that are settings are caps. */
export const count: Format<number> = wholeNumber(1, 1_000_000);

export const flag: Format<boolean> = {
  name: 'true or false',
  parse(raw) {
    if (raw === true || raw === 'true') return accept(true);
    return raw === false || raw === 'false' ? accept(false) : reject('true or false', raw);
  },
};

/** One of a closed set of words. */
export function choice<const T extends string>(...words: readonly T[]): Format<T> {
  const expected = `one of ${words.join(', ')}`;
  return {
    name: words.join(', '),
    parse(raw) {
      const word = words.find((candidate) => candidate === raw);
      return word === undefined ? reject(expected, raw) : accept(word);
    },
  };
}

/** The path of a file; whether it can be read shows later. */
export const filePath: Format<string> = {
  name: 'path',
  parse(raw) {
    return typeof raw === 'string' && raw !== '' ? accept(raw) : reject('the path of a file', raw);
  },
};

/** A shared secret. No message shows it. */
export const secretText: Format<string> = {
  name: 'text',
  parse(raw) {
    if (typeof raw === 'string' && raw !== '') return accept(raw);
    return refuse(mismatch('a secret (text; put one that looks like a number in quotes)', kindOf(raw)));
  },
};

/** The entries of a list that is written as one text, with commas, or as a list. */
export function splitList(raw: unknown): readonly unknown[] {
  if (typeof raw === 'string') return raw.split(',').map((text) => text.trim());
  return Array.isArray(raw) ? raw : [raw];
}
