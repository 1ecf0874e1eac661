/** One mistake in the configuration: where it stands, and what was expected and found there. */
export interface Problem {
  /** `/etc/xvs.yml:7:13 poll.interval`, `environment variable XVS_POLL_INTERVAL`, `flag --poll.interval`. */
  readonly place: string;
  /** `expected …, found …`; never holds a secret. */
  readonly message: string;
}

/** A configuration that cannot be used. Its message is one line for each problem and safe to print. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ place, message }) => `${place}: ${message}`).join('\n'));
    this.problems = problems;
  }
}

/** Throws a {@link ConfigError} that lists the problems, if there are any. */
export function throwIfAny(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new ConfigError(problems);
}

/** The sentence that all mistakes are told in; `hint` says what to do about it. */
export function mismatch(expected: string, found: string, hint?: string): string {
  return `expected ${expected}, found ${found}${hint === undefined ? '' : `; ${hint}`}`;
}

const MAX_SHOWN = 200;

/** A value as a message shows it: text in quotes and cut, lists and mappings by kind alone. */
export function show(raw: unknown): string {
  if (typeof raw === 'string')
    return JSON.stringify(raw.length > MAX_SHOWN ? `${raw.slice(0, MAX_SHOWN)}…` : raw);
  return typeof raw === 'number' || typeof raw === 'boolean' ? String(raw) : kindOf(raw);
}

/** What a message says of a value that it may not show. */
export function kindOf(raw: unknown): string {
  if (raw === undefined || raw === null) return 'nothing';
  if (raw === '') return 'an empty text';
  if (Array.isArray(raw)) return raw.length === 0 ? 'an empty list' : 'a list';
  if (typeof raw === 'object') return 'a mapping';
  return typeof raw === 'string' ? 'a text' : `a ${typeof raw}`;
}
