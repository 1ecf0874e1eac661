import { HOUR, type Bounds, type History } from './history.ts';
import { Violations, type LossViolation } from './violations.ts';

/** Something that is lost, as it was told. */
export interface ToldLoss {
  readonly before: number;
  /** The listing with which it was first told. */
  readonly begun: number;
}

/** What METRICS.md says about the losses of one family and subject. */
export interface LossRules {
  readonly fact: string;
  /** What the exporter says with a listing; `undefined` is unknown. */
  told(index: number): number | undefined;
  /** Whether it says nothing, not 0, where nothing is lost. */
  readonly isAbsentWithout: boolean;
  /** Whether a loss must begin with a listing, from levels since the end of the one before. */
  isDue(index: number, end: number): boolean;
  /** What may have been before a loss that begins with a listing, from levels since the one before began. */
  listAllowed(index: number, begin: number): readonly Bounds[];
  /** Whether a loss must be over. */
  isOver(index: number, loss: ToldLoss): boolean;
  /** Whether it may be. */
  canBeOver(index: number, loss: ToldLoss): boolean;
  /** What was true, for a report. */
  describe(index: number): string;
}

/** Compares what an exporter says from listing to listing with what the rules of its family say. */
export function checkLosses(history: History, rules: LossRules): readonly LossViolation[] {
  const violations = new Violations(rules.fact, history);
  let loss: ToldLoss | undefined;
  let [begin, end] = [0, 0];
  let hasEnded = rules.isAbsentWithout;
  for (const index of history.listings.keys()) {
    const told = rules.told(index);
    if (loss !== undefined) {
      if (told === loss.before && !rules.isOver(index, loss)) continue;
      if (told === loss.before) violations.add('over', index, `${told}: ${rules.describe(index)}`);
      else if (!rules.canBeOver(index, loss))
        violations.add('not over', index, `${loss.before} becomes ${told}: ${rules.describe(index)}`);
      [loss, end, hasEnded] = [undefined, index, true];
    }
    if (told !== undefined && told > 0) {
      const isAllowed = rules
        .listAllowed(index, begin)
        .some(({ least, most }) => told >= least && told <= most);
      if (!isAllowed) violations.add('calm', index, `${told}: ${rules.describe(index)}`);
      loss = { before: told, begun: index };
      begin = index;
    } else if (rules.isDue(index, end)) violations.add('told', index, rules.describe(index));
    else if (hasEnded || history.seconds(0, index) >= HOUR) {
      if (told !== (rules.isAbsentWithout ? undefined : 0)) violations.add('unknown', index, `${told} for 0`);
    } else if (told !== undefined) violations.add('unknown', index, `${told} for what is not known`);
  }
  return violations.found;
}
