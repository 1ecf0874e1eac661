import type { PartReading, TaskReading } from '../../listing/listing-sink.ts';
import { measureGain, NO_GAIN, type Gain, type MatchTimes } from './gains.ts';
import { matchParts, NO_VALUE, type PreviousPart } from './part-accounts.ts';
import { ensureRareAccounts, type TaskAccount } from './task-account.ts';

/**
 * Updates the input account of a task. The first valid value of a task that had none when it was first seen is a
 * baseline. When the source changes between the task and its inputs, only the part above all that is accounted for
 * counts; a smaller total is no reset.
 *
 * @param isNew - whether the task began after the previous good listing, so that its whole first value counts.
 * @returns `undefined` if the listing has no valid value.
 */
export function updateInput(
  account: TaskAccount,
  reading: TaskReading,
  isNew: boolean,
  times: MatchTimes,
): Gain | undefined {
  const { inputBytes } = reading;
  if (inputBytes === undefined) return updateInputs(account, reading.inputs, isNew, times);
  const source = account.inputSource;
  const gain =
    source === 'task'
      ? measureGain(account.inputBytes, inputBytes)
      : takeTotal(account, inputBytes, source === undefined && !isNew);
  if (source === 'task') account.accountedInputBytes += gain.bytes;
  account.inputSource = 'task';
  account.inputBytes = inputBytes;
  return gain;
}

function updateInputs(
  account: TaskAccount,
  readings: readonly PartReading[],
  isNew: boolean,
  { lastSeenMs, forgetBeforeMs }: MatchTimes,
): Gain | undefined {
  if (!readings.some(({ bytes }) => bytes !== undefined)) return undefined;
  const rare = ensureRareAccounts(account);
  const parts = { present: rare.inputs, departed: rare.departedInputs };
  const { present, departed, previous } = matchParts(parts, readings, lastSeenMs, forgetBeforeMs);
  rare.inputs = present;
  rare.departedInputs = departed;
  const source = account.inputSource;
  account.inputSource = 'inputs';
  if (source === 'inputs') return addGains(account, readings, previous);
  const total = readings.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
  return takeTotal(account, total, source === undefined && !isNew);
}

/** Takes a total from another source than the previous one. */
function takeTotal(account: TaskAccount, total: number, isBaseline: boolean): Gain {
  const bytes = Math.max(0, total - account.accountedInputBytes);
  account.accountedInputBytes += bytes;
  return isBaseline ? NO_GAIN : { bytes, resetCount: 0 };
}

function addGains(
  account: TaskAccount,
  readings: readonly PartReading[],
  previous: readonly (PreviousPart | undefined)[],
): Gain {
  let [sum, resetCount] = [0, 0];
  for (const [index, { bytes }] of readings.entries()) {
    if (bytes === undefined) continue;
    const previousBytes = previous[index]?.bytes ?? 0;
    if (previousBytes === NO_VALUE) {
      account.accountedInputBytes += bytes;
      continue;
    }
    const gain = measureGain(previousBytes, bytes);
    sum += gain.bytes;
    resetCount += gain.resetCount;
  }
  account.accountedInputBytes += sum;
  return { bytes: sum, resetCount };
}
