import type { Instant } from '../instant.ts';
import type { TaskReading } from '../../listing/listing.ts';
import type { Account } from './account.ts';
import { countParts, dropDeparted, type PartAccounts } from './part-accounts.ts';

/** Where the input bytes of a task were read. */
export type InputSource = 'task' | 'inputs';

/** The accounts of a task. */
export interface TaskAccount {
  /** Identifies the task. */
  readonly id: string;
  /** The server under which it was last listed. */
  vsId: string;
  readonly firstSeen: Instant;
  /** The last good listing that held the task. */
  lastSeen: Instant;
  /** When the input of a live task last grew or the progress of a file task last changed. */
  lastActivity: Instant;
  progress: number;
  /** `undefined` before the first valid value of its input bytes. */
  inputSource: InputSource | undefined;
  /** The base of the task's own `input_bytes`. */
  inputBytes: number;
  /** The whole account of its own `input_bytes`, unless the last value was accepted when the task was last seen. */
  unusualInput: Account | undefined;
  /** Bytes that are counted already and that the bases of the present source do not show. */
  inputBytesBeyondBases: number;
  /** `undefined` while the task has `input_bytes` of its own. */
  inputs: PartAccounts | undefined;
  outputs: PartAccounts;
  /** A combination of {@link TaskFlag}. */
  flags: number;
}

/** Booleans of a task, in one number: a field of its own for each would take eight bytes. */
export const TaskFlag = {
  /** Its input bytes exceeded 0 once. */
  hasFlowed: 1,
  isStalled: 2,
  /** It ran when the exporter started, so its start and its lifetime are unknown. */
  isFromBaseline: 4,
  /** It has left its server since it last started there, and its end is counted. */
  isEndCounted: 8,
  isLifetimeObserved: 16,
} as const;

export type TaskFlag = (typeof TaskFlag)[keyof typeof TaskFlag];

/** All flags together. */
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
    inputSource: undefined,
    inputBytes: 0,
    unusualInput: undefined,
    inputBytesBeyondBases: 0,
    inputs: undefined,
    outputs: [],
    flags,
  };
}

/** The account of the task's own `input_bytes`. */
export function readOwnInput(account: TaskAccount): Account {
  return (
    account.unusualInput ?? {
      baseBytes: account.inputBytes,
      acceptedMs: account.lastSeen.monotonicMs,
      streamRate: 0,
      formerBytes: 0,
      streak: undefined,
    }
  );
}

/** Stores the account of the task's own `input_bytes` as of a listing that holds the task. */
export function storeOwnInput(account: TaskAccount, input: Account, nowMs: number): void {
  const { baseBytes, acceptedMs, streamRate, formerBytes, streak } = input;
  const isUsual = acceptedMs === nowMs && streamRate === 0 && formerBytes === 0 && streak === undefined;
  account.inputBytes = baseBytes;
  account.unusualInput = isUsual ? undefined : input;
}

/** The account of a task, and those of its inputs and outputs, the departed ones included. */
export function countAccounts({ inputs, outputs }: TaskAccount): number {
  return 1 + (inputs === undefined ? 0 : countParts(inputs)) + countParts(outputs);
}

/** Forgets inputs and outputs that have left the task; returns how many. */
export function dropDepartedParts(account: TaskAccount): number {
  const count = countAccounts(account);
  account.inputs = account.inputs && dropDeparted(account.inputs);
  account.outputs = dropDeparted(account.outputs);
  return count - countAccounts(account);
}
