import type { History } from './history.ts';
import type { LossNight } from './script.ts';

export type LossClause = 'told' | 'not over' | 'over' | 'calm' | 'true' | 'unknown';

/** What an exporter says that is not so, or does not say. */
export interface LossViolation {
  readonly fact: string;
  readonly clause: LossClause;
  readonly second: number;
  readonly reason: string;
}

/** Collects the violations of one fact. */
export class Violations {
  readonly found: LossViolation[] = [];
  readonly #fact: string;
  readonly #history: History;

  constructor(fact: string, history: History) {
    this.#fact = fact;
    this.#history = history;
  }

  add(clause: LossClause, index: number, reason: string): void {
    this.found.push({ fact: this.#fact, clause, second: this.#history.second(index), reason });
  }
}

/** Says how a night went, and what is wrong first. */
export function formatViolations({ seed, script }: LossNight, violations: readonly LossViolation[]): string {
  const lines = violations
    .slice(0, 4)
    .map(({ fact, clause, second, reason }) => `  ${clause}: ${fact} at ${second} s: ${reason}`);
  return [`seed ${seed}: ${script.join('; ')}`, ...lines].join('\n');
}
