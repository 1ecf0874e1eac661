import { closest, distance } from 'fastest-levenshtein';

export interface Problem {
  /** `/etc/xvs.yml:7:13 poll.interval`, `environment variable XVS_POLL_INTERVAL`, `flag --poll.interval`. */
  readonly location: string;
  /** `expected …, found …; remedy`. It never contains a secret. */
  readonly message: string;
}

/** A generated file may have the same mistake on thousands of lines. */
const MAX_SHOWN_PROBLEMS = 20;

/** A configuration that cannot be used. Its message shows the first 20 problems, and no secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(problems: readonly Problem[]) {
    const shown = problems.slice(0, MAX_SHOWN_PROBLEMS);
    const lines = shown.map(({ location, message }) => `${location}: ${message}`);
    const hiddenCount = problems.length - shown.length;
    if (hiddenCount > 0) lines.push(`and ${hiddenCount} more, ${problems.length} in total`);
    super(lines.join('\n'));
  }
}

export function throwIfAny(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new ConfigError(problems);
}

export function expectedFound(expected: string, found: string, remedy?: string): string {
  return `expected ${expected}, found ${found}${remedy === undefined ? '' : `; ${remedy}`}`;
}

export function createProblem(location: string, expected: string, found: string, remedy?: string): Problem {
  return { location, message: expectedFound(expected, found, remedy) };
}

/** Characters that a message shows of a value or a key. */
export const MAX_SHOWN_CHARS = 200;

/** Formats a value for a message: strings quoted and truncated, lists and mappings by kind only. */
export function formatValue(raw: unknown): string {
  if (typeof raw === 'string')
    return JSON.stringify(raw.length > MAX_SHOWN_CHARS ? `${raw.slice(0, MAX_SHOWN_CHARS)}…` : raw);
  return typeof raw === 'number' || typeof raw === 'boolean' ? String(raw) : describeKind(raw);
}

/** Describes a value without showing it: for secrets. */
export function describeKind(raw: unknown): string {
  if (raw === undefined || raw === null) return 'no value';
  if (raw === '') return 'an empty string';
  if (Array.isArray(raw)) return raw.length === 0 ? 'an empty list' : 'a list';
  if (typeof raw === 'object') return 'a mapping';
  return `a ${typeof raw}`;
}

/** Formats a URL for a message, unless it may contain a password: `user:password@host` parses as a scheme. */
export function formatUrl(raw: string): string {
  return raw.includes('@') ? 'one with "@" (not shown)' : formatValue(raw);
}

/** `did you mean …?` with the nearest known name, if there is one. */
export function formatSuggestion(name: string, known: readonly string[]): string | undefined {
  const nearest = findNearest(name, known);
  return nearest && `did you mean ${nearest}?`;
}

/** The nearest known name, if at most a third of its letters (at least one) differ. */
export function findNearest(name: string, known: readonly string[]): string | undefined {
  const lowerCase = name.toLowerCase();
  const near = known.filter(
    (candidate) => distance(lowerCase, candidate) <= Math.max(1, Math.floor(candidate.length / 3)),
  );
  return near.length === 0 ? undefined : closest(lowerCase, near);
}
