import type { TaskRecord } from '../listing-records.ts';
import { STALL_SECONDS, type History } from './history.ts';

/** What listings show of the input of a task, in one run. */
export interface TaskInput {
  readonly task: TaskRecord;
  readonly isLive: boolean;
  readonly firstSecond: number;
  readonly isOfFirstListing: boolean;
  readonly hasHadInput: boolean;
  /** Whether its count is another one than in the listing before; 0 does not tell that a dead one flows. */
  readonly hasChanged: boolean;
  /** Whether it has grown above all of its earlier counts. */
  readonly isSteady: boolean;
  /** Whether its input has been seen to grow; `undefined`: perhaps, it came with bytes. */
  readonly hasGrown: boolean | undefined;
  /** Whether its count has fallen and not grown since: it waits. */
  readonly waits: boolean;
  /** The listing with which its count last changed, else the first one. */
  readonly changedSecond: number;
  /** Listings, and their seconds, without growth; the first one after a gap shows nothing. */
  readonly quietListings: number;
  readonly quietSeconds: number;
  /** Whether it may be silent for `stall_after`. */
  readonly canBeSilent: boolean;
}

/** The tasks of each listing. */
export type Inputs = readonly (readonly TaskInput[])[];

/** Follows the tasks of all listings. */
export function followInputs(history: History): Inputs {
  let last = new Map<string, TaskInput>();
  const largest = new Map<string, number>();
  return history.listings.map(({ tasks }, index) => {
    const inputs = tasks.map((task) => {
      const before = last.get(task.id);
      const largestBytes = largest.get(task.id) ?? 0;
      largest.set(task.id, Math.max(largestBytes, bytesOf(task)));
      return before === undefined
        ? beginRun(history, index, task, largestBytes)
        : continueRun(history, index, task, largestBytes, before);
    });
    last = new Map(inputs.map((input) => [input.task.id, input]));
    return inputs;
  });
}

function beginRun(history: History, index: number, task: TaskRecord, largestBytes: number): TaskInput {
  return {
    task,
    isLive: task.progress === 0,
    firstSecond: history.second(index),
    isOfFirstListing: index === 0,
    hasHadInput: bytesOf(task) > 0,
    hasChanged: false,
    isSteady: false,
    hasGrown: index > 0 && bytesOf(task) > 0 ? undefined : false,
    waits: bytesOf(task) < largestBytes,
    changedSecond: history.second(index),
    quietListings: 0,
    quietSeconds: 0,
    canBeSilent: false,
  };
}

function continueRun(
  history: History,
  index: number,
  task: TaskRecord,
  largestBytes: number,
  before: TaskInput,
): TaskInput {
  const growth = bytesOf(task) - bytesOf(before.task);
  const isGap = history.isAfterGap(index);
  const hasChanged = growth !== 0 && !(before.canBeSilent && bytesOf(task) === 0);
  const changedSecond = hasChanged ? history.second(index) : before.changedSecond;
  const isIdle = !hasChanged && history.second(index) - changedSecond >= STALL_SECONDS;
  return {
    ...before,
    task,
    hasHadInput: before.hasHadInput || bytesOf(task) > 0,
    hasChanged,
    isSteady: growth > 0 && bytesOf(task) > largestBytes,
    hasGrown: growth > 0 || before.hasGrown,
    waits: growth < 0 || (growth === 0 && before.waits),
    changedSecond,
    quietListings: hasChanged ? 0 : before.quietListings + (isGap ? 0 : 1),
    quietSeconds: hasChanged ? 0 : before.quietSeconds + (isGap ? 0 : history.step(index)),
    canBeSilent: isIdle && (before.canBeSilent || !isGap),
  };
}

const bytesOf = ({ inputBytes = 0 }: TaskRecord): number => inputBytes;

/** Whether the input has stopped for certain: for `stall_after`, and in so many listings. */
export function isSilent({ quietListings, quietSeconds, waits }: TaskInput, listings: number): boolean {
  return quietListings >= listings && quietSeconds >= STALL_SECONDS && !waits;
}

/** Whether the input flows for certain. */
export function flows({ isLive, hasChanged, hasGrown }: TaskInput): boolean {
  return isLive && hasChanged && hasGrown === true;
}

/** Whether it may flow. */
export function canFlow(input: TaskInput): boolean {
  const { isLive, hasGrown, hasChanged, waits } = input;
  return isLive && (hasChanged || waits || (hasGrown !== false && !isSilent(input, 2)));
}
