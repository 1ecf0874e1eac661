import type { TaskReading } from '../../listing/listing.ts';
import type { Instant } from '../instant.ts';
import { countParts, dropDeparted, listParts, sumBases, type PartAccounts } from './part-accounts.ts';

export interface TaskAccount {
  readonly id: string;
  /** The server under which it was last listed. */
  vsId: string;
  readonly firstSeen: Instant;
  /** The last good listing that held the task. */
  lastSeen: Instant;
  /** When the input of a live task last grew or the progress of a file task last changed. */
  lastActivity: Instant;
  progress: number;
  inputs: PartAccounts;
  /** Input bytes that are counted and that no base shows any more. */
  owedInputBytes: number;
  outputs: PartAccounts;
  flags: number;
}

/** Booleans of a task, in one number: a field of its own for each would take eight bytes. */
export const TaskFlag = {
  /** Its input bytes exceeded 0 once. */
  hasFlowed: 1,
  isStalled: 2,
  /** It ran when the exporter started, it has read a file, or its lifetime is observed already. */
  hasNoLifetime: 4,
  /** It has left its server since it last started there, and its end is counted. */
  isEndCounted: 8,
  /** Its input bytes had a valid value once. */
  reportsInput: 16,
} as const;

export type TaskFlag = (typeof TaskFlag)[keyof typeof TaskFlag];

export const ALL_TASK_FLAGS = Object.values(TaskFlag).reduce((all, flag) => all | flag, 0);

export function hasFlag(account: TaskAccount, flag: TaskFlag): boolean {
  return (account.flags & flag) !== 0;
}

export function setFlag(account: TaskAccount, flag: TaskFlag, isSet: boolean): void {
  account.flags = isSet ? account.flags | flag : account.flags & ~flag;
}

export function createTaskAccount(
  { id, vsId, progress }: TaskReading,
  at: Instant,
  flags: number,
): TaskAccount {
  return {
    id,
    vsId,
    firstSeen: at,
    lastSeen: at,
    lastActivity: at,
    progress: progress ?? 0,
    inputs: [],
    owedInputBytes: 0,
    outputs: [],
    flags,
  };
}

/** Those of inputs and outputs that left the task included: at least one for its input. */
export function countAccounts({ inputs, outputs }: TaskAccount): number {
  return Math.max(1, countParts(inputs)) + countParts(outputs);
}

/** Forgets inputs and outputs that have left the task; returns how many. */
export function dropDepartedParts(account: TaskAccount): number {
  const { inputs, outputs, lastSeen } = account;
  const sumInputs = (): number => sumBases(listParts(account.inputs, lastSeen.monotonicMs));
  const [count, coveredBytes] = [countAccounts(account), sumInputs()];
  account.inputs = dropDeparted(inputs);
  account.outputs = dropDeparted(outputs);
  account.owedInputBytes += coveredBytes - sumInputs();
  return count - countAccounts(account);
}
