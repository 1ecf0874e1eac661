import type { Violation } from './oracle.ts';
import type { Night } from './truth.ts';

/** A violation of the contract that stays, as deploy/prometheus/README.md says. */
interface Residue {
  readonly name: string;
  matches(night: Night, violation: Violation): boolean;
}

export const RESIDUES: readonly Residue[] = [
  {
    // The page about the first code that is seen to be empty comes before most codes are.
    name: 'codes that are polled at different intervals vanish one after another',
    matches: ({ codes }, { clause, alert }) =>
      clause === 'once' &&
      alert.includes('XvsTasksVanished') &&
      new Set(codes.map(({ intervalSeconds }) => intervalSeconds)).size > 1,
  },
];

/** Returns the name of the residue that a violation belongs to. */
export function findResidue(night: Night, violation: Violation): string | undefined {
  return RESIDUES.find((residue) => residue.matches(night, violation))?.name;
}
