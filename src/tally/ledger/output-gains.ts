import type { OutputReading } from '../../listing/listing-sink.ts';
import { measureGain, NO_GAIN, type Gain, type MatchTimes } from './gains.ts';
import { createParts, hasSameParts, matchParts, NO_VALUE, NUMBERS_PER_PART } from './part-accounts.ts';
import { ensureRareAccounts, type TaskAccount } from './task-account.ts';

/** A task of the listing under way and its account. */
interface OutputsUpdate extends MatchTimes {
  readonly account: TaskAccount;
  readonly reading: { readonly outputs: readonly OutputReading[] };
  /** Whether the task itself had no account before this listing. */
  readonly isNew: boolean;
  /** Time since the task was last seen; a departed output was seen before that. */
  readonly elapsedMs: number;
}

/** Takes the gain of an output since it was last seen, at most `elapsedMs` ago. */
export type OutputGainSink<Update> = (
  update: Update,
  output: OutputReading,
  gain: Gain,
  elapsedMs: number,
) => void;

/**
 * Updates the output accounts of a task. A new output counts whole. The first valid value of an output that had none
 * when it was first seen is a baseline.
 */
export function updateOutputs<Update extends OutputsUpdate>(
  update: Update,
  add: OutputGainSink<Update>,
): void {
  const { account, isNew, elapsedMs } = update;
  const { outputs } = update.reading;
  if (isNew) {
    account.outputs = createParts(outputs);
    for (const output of outputs) add(update, output, measureOutput(0, output.bytes), elapsedMs);
    return;
  }
  const { outputs: accounts, rare } = account;
  const hasDeparted = rare !== undefined && rare.departedOutputs.length > 0;
  if (hasDeparted || !hasSameParts(accounts, outputs)) {
    matchOutputs(update, add);
    return;
  }
  let at = 1;
  for (const output of outputs) {
    const gain = measureOutput(accounts[at] ?? NO_VALUE, output.bytes);
    if (output.bytes !== undefined) accounts[at] = output.bytes;
    add(update, output, gain, elapsedMs);
    at += NUMBERS_PER_PART;
  }
}

function matchOutputs<Update extends OutputsUpdate>(update: Update, add: OutputGainSink<Update>): void {
  const { account, lastSeenMs, forgetBeforeMs, elapsedMs } = update;
  const { outputs } = update.reading;
  const parts = { present: account.outputs, departed: account.rare?.departedOutputs ?? [] };
  const { present, departed, previous } = matchParts(parts, outputs, lastSeenMs, forgetBeforeMs);
  account.outputs = present;
  if (departed.length > 0 || account.rare !== undefined)
    ensureRareAccounts(account).departedOutputs = departed;
  for (const [index, output] of outputs.entries()) {
    const part = previous[index];
    const awayMs = part?.lastSeenMs === undefined ? 0 : lastSeenMs - part.lastSeenMs;
    add(update, output, measureOutput(part?.bytes ?? 0, output.bytes), elapsedMs + awayMs);
  }
}

function measureOutput(previousBytes: number, bytes: number | undefined): Gain {
  return bytes === undefined || previousBytes === NO_VALUE ? NO_GAIN : measureGain(previousBytes, bytes);
}
