import { createDeliveryRules } from './delivery-rules.ts';
import { checkExpectation } from './expectation-oracle.ts';
import { History, HOUR } from './history.ts';
import { createIngestRules } from './ingest-rules.ts';
import { createLevelRules } from './level-rules.ts';
import { checkLosses } from './loss-oracle.ts';
import type { Memory } from './run.ts';
import type { LossNight } from './script.ts';
import { createServerRules } from './server-rules.ts';
import { checkStalls } from './stall-oracle.ts';
import { followInputs, type Inputs } from './task-inputs.ts';
import type { LossViolation } from './violations.ts';

/**
 * Compares what an exporter said in a night with what METRICS.md says of its listings: an oracle that looks
 * at all listings of before. Where that page leaves room, a loss must be told, or be over, by the strictest
 * reading, and may be by the widest.
 */
export function checkNight(night: LossNight, memories: readonly Memory[]): readonly LossViolation[] {
  return memories.flatMap((listings) => {
    const history = new History(night, listings);
    const inputs = followInputs(history);
    return [
      ...checkStalls(history, inputs),
      ...checkExpectation(history, inputs),
      ...checkFamilies(history, inputs),
    ];
  });
}

/** After a gap of more than an hour, losses are as unknown as without state. */
function checkFamilies(history: History, inputs: Inputs): readonly LossViolation[] {
  const { night, listings } = history;
  const gap = listings.findIndex((_, index) => history.step(index) > HOUR);
  if (gap !== -1)
    return [
      ...checkFamilies(new History(night, listings.slice(0, gap)), inputs.slice(0, gap)),
      ...checkFamilies(new History(night, listings.slice(gap)), inputs.slice(gap)),
    ];
  const rules = [
    createLevelRules(history, 'tasks', { leastOfHalf: 10, leastOfAll: 1, endsOneByOne: true }),
    createLevelRules(history, 'users', { leastOfHalf: 20, leastOfAll: Infinity, endsOneByOne: false }),
    createIngestRules(history, inputs),
    ...night.servers.map((server) => createServerRules(history, server)),
    ...night.servers.map((server) => createDeliveryRules(history, inputs, server)),
  ];
  return rules.flatMap((one) => checkLosses(history, one));
}
