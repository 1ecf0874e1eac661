import type { TaskReading } from '../../listing/listing.ts';
import type { Instant } from '../../runtime/instant.ts';
import {
  countDeparted,
  countListed,
  dropDeparted,
  listDeparted,
  type PartAccounts,
} from './part-accounts.ts';

export interface TaskAccount {
  readonly id: string;
  /** The server under which it was last listed. */
  vsId: string;
  /** The first listing of its run. */
  firstSeen: Instant;
  /** The last good listing that held the task. */
  lastSeen: Instant;
  /** When the input of a live task last flowed or the progress of a file task last changed. */
  lastActivity: Instant;
  progress: number;
  inputs: PartAccounts;
  outputs: PartAccounts;
  flags: number;
}

/** Booleans of a task, in one number: a field of its own for each would take eight bytes. */
export const TaskFlag = {
  /** Its input bytes exceeded 0 once. */
  hasFlowed: 1,
  isStalled: 2,
  /** The start of its run was not seen, or it has read a file. */
  hasNoLifetime: 4,
  /** The exporter has seen its input flow in its run. */
  hasFlowedInSight: 8,
  /** Its input bytes had a valid value once. */
  reportsInput: 16,
  /** It is known whether its input has an account of its own or each of its inputs. */
  hasSource: 32,
} as const;

export type TaskFlag = (typeof TaskFlag)[keyof typeof TaskFlag];

export const ALL_TASK_FLAGS = Object.values(TaskFlag).reduce((all, flag) => all | flag, 0);

export function hasFlag(account: TaskAccount, flag: TaskFlag): boolean {
  return (account.flags & flag) !== 0;
}

export function setFlag(account: TaskAccount, flag: TaskFlag, isSet: boolean): void {
  account.flags = isSet ? account.flags | flag : account.flags & ~flag;
}

export function createTaskAccount({ id, vsId, progress }: TaskReading, at: Instant): TaskAccount {
  return {
    id,
    vsId,
    firstSeen: at,
    lastSeen: at,
    lastActivity: at,
    progress: progress ?? 0,
    inputs: [],
    outputs: [],
    flags: 0,
  };
}

const SUM_MODULUS = 2 ** 32;

/** Adds to a sum of when tasks were last listed, or subtracts. As a remainder it is exact in any order. */
export function addLastSeen(sum: number, { lastSeen }: TaskAccount, factor: 1 | -1 = 1): number {
  const remainder = (sum + factor * lastSeen.monotonicMs) % SUM_MODULUS;
  return remainder < 0 ? remainder + SUM_MODULUS : remainder;
}

/** Accounts of a task while it is listed: at least one for its input. */
export function countAccounts({ inputs, outputs }: TaskAccount): number {
  return Math.max(1, countListed(inputs)) + countListed(outputs);
}

/** Accounts of inputs and outputs that have left the task. */
export function countDepartedParts({ inputs, outputs }: TaskAccount): number {
  return countDeparted(inputs) + countDeparted(outputs);
}

/** Forgets inputs and outputs that have left the task, but the last `count` of them. */
export function keepDepartedParts(account: TaskAccount, count: number): void {
  const { inputs, outputs } = account;
  if (countDepartedParts(account) <= count) return;
  const departed = [...listDeparted(inputs), ...listDeparted(outputs)];
  departed.sort((a, b) => (b.departedMs ?? 0) - (a.departedMs ?? 0));
  const kept = new Set(departed.slice(0, count));
  account.inputs = dropDeparted(inputs, kept);
  account.outputs = dropDeparted(outputs, kept);
}
