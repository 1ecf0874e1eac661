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
 * that left other servers, the one that it continues with the least growth. A task that continues none is new, since what it has
 * carried after its own account left can be in another one; without another one, the own account goes on in any case.
 *
 * Another account can only have moved here if it was opened after the own one left: two that were listed together are of two
 * tasks.
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
  const ownGrowth = own && measureContinuation(own, reading, toContinuation(own));
  let continued = ownGrowth === Infinity ? undefined : own;
  let leastGrowth = ownGrowth ?? Infinity;
  for (const account of others.toSorted(compareRecency)) {
    const growth = measureContinuation(account, reading, toContinuation(account)) ?? Infinity;
    if (growth >= leastGrowth) continue;
    continued = account;
    leastGrowth = growth;
  }
  return continued;
}

/**
 * The growth of an account if the values of a task continue it by no more than a stream: its input; without one every input,
 * else every output, that both have. `Infinity` if they do not; `undefined` if there is no common value, and nothing tells.
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
    return isContinued ? inputBytes - account.inputBytes : Infinity;
  }
  const ofInputs = measureCommonGrowth(account.inputs ?? [], reading.inputs, inputs);
  return ofInputs ?? measureCommonGrowth(account.outputs, reading.outputs, outputs);
}

/** The account that was seen last comes first; equally old ones come in an order that a restart does not change. */
function compareRecency(a: TaskAccount, b: TaskAccount): number {
  return b.lastSeen.monotonicMs - a.lastSeen.monotonicMs || (a.vsId < b.vsId ? -1 : 1);
}
