import { isGrowth } from './account.ts';
import { measureCommonGrowth, type PartsUpdate } from './part-accounts.ts';
import { readOwnInput, type TaskAccount } from './task-account.ts';
import { computeInputRate } from './task-input.ts';
import type { TaskReading } from '../../listing/listing-sink.ts';

/** What a commit knows of the parts of an account. */
export interface TaskPartsUpdate {
  readonly inputs: PartsUpdate;
  readonly outputs: PartsUpdate;
}

/** By how much a task continues an account: `NOTHING_COMMON` without common values, `Infinity` if it does not. */
interface Growth {
  readonly input: number;
  /** Looked at only if no input is common: it tells less. */
  readonly outputs: number;
}

const NOTHING_COMMON = Number.MAX_VALUE;

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
  createUpdate: (account: TaskAccount) => TaskPartsUpdate,
): TaskAccount | undefined {
  const others =
    own === undefined
      ? absent
      : absent.filter(({ firstSeen }) => firstSeen.monotonicMs > own.lastSeen.monotonicMs);
  if (others.length === 0) return own;
  const candidates = [...others.toSorted(compareRecency), ...(own === undefined ? [] : [own])];
  const [first] = candidates
    .map((account) => ({ account, growth: measureGrowth(account, reading, createUpdate(account)) }))
    .filter(({ account, growth }) => isContinued(growth) || (account === own && !isContradicted(growth)))
    .toSorted((a, b) => a.growth.input - b.growth.input || a.growth.outputs - b.growth.outputs);
  return first?.account;
}

/** Measures the growth of the values that an account and a task have in common. */
function measureGrowth(
  account: TaskAccount,
  reading: TaskReading,
  { inputs, outputs }: TaskPartsUpdate,
): Growth {
  const { inputBytes } = reading;
  if (inputBytes !== undefined && account.inputSource === 'task') {
    const rate = computeInputRate(reading, inputs.streamRate);
    const isContinuing = isGrowth(readOwnInput(account), inputBytes, rate, inputs.meter);
    return { input: isContinuing ? inputBytes - account.inputBytes : Infinity, outputs: NOTHING_COMMON };
  }
  const input = measureCommonGrowth(account.inputs ?? [], reading.inputs, inputs) ?? NOTHING_COMMON;
  if (input !== NOTHING_COMMON) return { input, outputs: NOTHING_COMMON };
  return { input, outputs: measureCommonGrowth(account.outputs, reading.outputs, outputs) ?? NOTHING_COMMON };
}

const isContinued = ({ input, outputs }: Growth): boolean => Math.min(input, outputs) < NOTHING_COMMON;
const isContradicted = ({ input, outputs }: Growth): boolean => Math.max(input, outputs) === Infinity;

/** The account that was seen last comes first; equally old ones come in an order that a restart does not change. */
function compareRecency(a: TaskAccount, b: TaskAccount): number {
  return b.lastSeen.monotonicMs - a.lastSeen.monotonicMs || (a.vsId < b.vsId ? -1 : 1);
}
