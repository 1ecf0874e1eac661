import { isGrowth } from './account.ts';
import { measureCommonGrowth, type PartsUpdate } from './part-accounts.ts';
import { readOwnInput, type TaskAccount } from './task-account.ts';
import { computeInputRate } from './task-input.ts';
import type { TaskReading } from '../../listing/listing-sink.ts';

/** What a commit knows of the parts of an account. */
interface Continuation {
  readonly inputs: PartsUpdate;
  readonly outputs: PartsUpdate;
}

/**
 * The account of a task that has none under its server: of the accounts with its id that left other servers and that it
 * continues, the one with the least growth.
 */
export function findMovedAccount(
  accounts: readonly TaskAccount[],
  reading: TaskReading,
  toContinuation: (account: TaskAccount) => Continuation,
): TaskAccount | undefined {
  let moved: TaskAccount | undefined;
  let leastGrowth = Number.POSITIVE_INFINITY;
  for (const account of accounts.toSorted(compareRecency)) {
    const growth = measureContinuation(account, reading, toContinuation(account));
    if (growth === undefined || growth >= leastGrowth) continue;
    moved = account;
    leastGrowth = growth;
  }
  return moved;
}

/**
 * The growth of an account if the values of a task on another server continue it by no more than a stream: its input;
 * without one every input, else every output, that both have. `undefined` if they do not.
 */
function measureContinuation(
  account: TaskAccount,
  reading: TaskReading,
  { inputs, outputs }: Continuation,
): number | undefined {
  const { inputBytes } = reading;
  if (inputBytes !== undefined && account.inputSource === 'task') {
    const rate = computeInputRate(reading, inputs.streamRate);
    const isContinued = isGrowth(readOwnInput(account), inputBytes, rate, inputs.meter);
    return isContinued ? inputBytes - account.inputBytes : undefined;
  }
  const ofInputs = measureCommonGrowth(account.inputs ?? [], reading.inputs, inputs);
  if (ofInputs === undefined || ofInputs.count > 0) return ofInputs?.bytes;
  const ofOutputs = measureCommonGrowth(account.outputs, reading.outputs, outputs);
  // Without a common value nothing shows that it is the same task.
  return ofOutputs === undefined || ofOutputs.count === 0 ? undefined : ofOutputs.bytes;
}

/** The account that was seen last comes first; equally old ones come in an order that a restart does not change. */
function compareRecency(a: TaskAccount, b: TaskAccount): number {
  return b.lastSeen.monotonicMs - a.lastSeen.monotonicMs || (a.vsId < b.vsId ? -1 : 1);
}
