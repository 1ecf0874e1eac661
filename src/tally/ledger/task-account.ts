import type { Instant } from '../instant.ts';
import type { TaskReading } from '../../listing/listing-sink.ts';

/** Where the input bytes of a task were read. */
type InputSource = 'task' | 'inputs';

/** Accounts that few tasks need. */
export interface RareAccounts {
  /** Inputs, as long as the task itself reports no `input_bytes`. */
  inputs: number[];
  departedInputs: number[];
  departedOutputs: number[];
}

/** The account of a task. */
export interface TaskAccount {
  readonly id: string;
  vsId: string;
  readonly firstSeen: Instant;
  /** The last good listing that held the task. */
  lastSeen: Instant;
  /** When its input last flowed or, for a file task, its progress last changed. */
  lastActivity: Instant;
  progress: number;
  /** `undefined` before the first valid value of its input bytes. */
  inputSource: InputSource | undefined;
  /** The last `input_bytes` of the task itself. */
  inputBytes: number;
  /** Input bytes that are accounted for: the baseline and all gains, whether they were counted or implausible. */
  accountedInputBytes: number;
  outputs: number[];
  rare: RareAccounts | undefined;
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
    accountedInputBytes: 0,
    outputs: [],
    rare: undefined,
    flags,
  };
}

/** The rare accounts of a task, created if it has none. */
export function ensureRareAccounts(account: TaskAccount): RareAccounts {
  account.rare ??= { inputs: [], departedInputs: [], departedOutputs: [] };
  return account.rare;
}
