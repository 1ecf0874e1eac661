import type { OutputReading } from '../../listing/listing-sink.ts';
import { measureGain, NO_GAIN, type Gain, type MatchTimes } from './gains.ts';
import { createParts, hasSameParts, matchParts, NO_VALUE, NUMBERS_PER_PART } from './part-accounts.ts';
import { ensureRareAccounts, type TaskAccount } from './task-account.ts';

/** Takes the gain of an output since it was last seen, at most `elapsedMs` ago. */
export type OutputGainSink = (output: OutputReading, gain: Gain, elapsedMs: number) => void;

/**
 * Updates the output accounts of a task. A new output counts whole. The first valid value of an output that had none
 * when it was first seen is a baseline.
 *
 * @param isNew - whether the task itself has no account yet.
 * @param taskElapsedMs - the time since the task was last seen; a departed output was seen before that.
 */
export function updateOutputs(
  account: TaskAccount,
  outputs: readonly OutputReading[],
  isNew: boolean,
  times: MatchTimes,
  taskElapsedMs: number,
  add: OutputGainSink,
): void {
  if (isNew) {
    account.outputs = createParts(outputs);
    for (const output of outputs) add(output, measureOutput(0, output.bytes), taskElapsedMs);
    return;
  }
  const { outputs: accounts, rare } = account;
  const hasDeparted = rare !== undefined && rare.departedOutputs.length > 0;
  if (hasDeparted || !hasSameParts(accounts, outputs)) {
    matchOutputs(account, outputs, times, taskElapsedMs, add);
    return;
  }
  let at = 1;
  for (const output of outputs) {
    const gain = measureOutput(accounts[at] ?? NO_VALUE, output.bytes);
    if (output.bytes !== undefined) accounts[at] = output.bytes;
    add(output, gain, taskElapsedMs);
    at += NUMBERS_PER_PART;
  }
}

function matchOutputs(
  account: TaskAccount,
  outputs: readonly OutputReading[],
  { lastSeenMs, forgetBeforeMs }: MatchTimes,
  taskElapsedMs: number,
  add: OutputGainSink,
): void {
  const parts = { present: account.outputs, departed: account.rare?.departedOutputs ?? [] };
  const { present, departed, previous } = matchParts(parts, outputs, lastSeenMs, forgetBeforeMs);
  account.outputs = present;
  if (departed.length > 0 || account.rare !== undefined)
    ensureRareAccounts(account).departedOutputs = departed;
  for (const [index, output] of outputs.entries()) {
    const part = previous[index];
    const awayMs = part?.lastSeenMs === undefined ? 0 : lastSeenMs - part.lastSeenMs;
    add(output, measureOutput(part?.bytes ?? 0, output.bytes), taskElapsedMs + awayMs);
  }
}

function measureOutput(previousBytes: number, bytes: number | undefined): Gain {
  return bytes === undefined || previousBytes === NO_VALUE ? NO_GAIN : measureGain(previousBytes, bytes);
}
