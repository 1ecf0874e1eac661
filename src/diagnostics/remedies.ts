import { answerHints } from './answer-hints.ts';
import { connectionHints } from './connection-hints.ts';
import type { Hint } from './hint.ts';
import type { Observation } from './observation.ts';
import { refusalHints } from './refusal-hints.ts';

const HINTS: readonly Hint[] = [...connectionHints, ...answerHints, ...refusalHints];

/** What to try, by an observation: the usual mistakes that it fits, the likeliest first. */
export function hintsFor(observation: Observation): readonly string[] {
  return HINTS.flatMap((hint) => hint(observation) ?? []);
}
