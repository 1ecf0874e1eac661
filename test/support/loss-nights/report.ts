import type { LossNight } from './script.ts';
import type { LossViolation } from './violations.ts';

/** Says how a night went, and what is wrong first. */
export function formatViolations({ seed, script }: LossNight, violations: readonly LossViolation[]): string {
  const lines = violations
    .slice(0, 4)
    .map(({ fact, clause, second, reason }) => `  ${clause}: ${fact} at ${second} s: ${reason}`);
  return [`seed ${seed}: ${script.join('; ')}`, ...lines].join('\n');
}
