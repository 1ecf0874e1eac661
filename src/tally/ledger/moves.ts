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
 * The account of a task that is not in the last listing: of its own, if it had one under its server, and of accounts with its id
 * that left other servers, the one that it continues with the least growth. If it continues none, the task is new: what it has
 * carried since its own account left can be in another one.
 *
 * Another account can only have moved here if it was opened after the own one left: two that were listed together are of two
 * tasks. Without another one, the own account goes on whatever its values are.
 */
export function findContinuedAccount(
  own: TaskAccount | undefined,
  absent: readonly TaskAccount[],
  reading: TaskReading,
  toContinuation: (account: TaskAccount) => Continuation,
): TaskAccount | undefined {
  const others =
    own === undefined
      ? absent
      : absent.filter(({ firstSeen }) => firstSeen.monotonicMs > own.lastSeen.monotonicMs);
  if (others.length === 0) return own;
  let continued: TaskAccount | undefined;
  let leastGrowth = Number.POSITIVE_INFINITY;
  for (const account of [...others, ...(own === undefined ? [] : [own])].toSorted(compareRecency)) {
    const growth = measureContinuation(account, reading, toContinuation(account));
    if (growth === undefined || growth >= leastGrowth) continue;
    continued = account;
    leastGrowth = growth;
  }
  return continued;
}

/**
 * The growth of an account if the values of a task continue it by no more than a stream: its input;
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
