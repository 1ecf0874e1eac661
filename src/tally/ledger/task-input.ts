import { OWN_INPUT, type PartReading, type TaskReading } from '../../listing/listing.ts';
import { areOwnInput, openParts, updateParts, type PartsUpdate } from './part-accounts.ts';
import { hasFlag, setFlag, TaskFlag, type TaskAccount } from './task-account.ts';

export interface InputUpdate {
  readonly inputs: PartsUpdate;
  readonly account: TaskAccount;
  readonly reading: TaskReading;
  /** Whether the task had no account before this listing. */
  readonly isNew: boolean;
}

/** The task's own input in a listing without a valid value of it. */
const MISSING_OWN_INPUT: readonly PartReading[] = [{ identity: OWN_INPUT, bytes: undefined }];

/** Returns the bytes that the input of a listed task adds; `undefined` if it has no valid value. */
export function updateInput(update: InputUpdate): number | undefined {
  const { account, reading, inputs, isNew } = update;
  const wasOwn = areOwnInput(account.inputs);
  if (reading.inputs.every(({ bytes }) => bytes === undefined)) {
    // Inputs without values are noted: their first ones are bases.
    updateInputs(update, wasOwn ? MISSING_OWN_INPUT : reading.inputs);
    return undefined;
  }
  const isOwn = areOwnInput(reading.inputs);
  const isFirst = !hasFlag(account, TaskFlag.hasSource);
  setFlag(account, TaskFlag.hasSource, true);
  setFlag(account, TaskFlag.reportsInput, true);
  // The accounts of the new source open at their values: what came since the last listing is not counted.
  if (isFirst ? isOwn && !isNew : isOwn !== wasOwn) {
    account.inputs = openParts(reading.inputs, inputs.findings);
    if (!isFirst) inputs.findings.changedCount += 1;
    return 0;
  }
  return updateInputs(update, reading.inputs);
}

export function hasInput({ inputs }: TaskReading): boolean {
  return inputs.some(({ bytes = 0 }) => bytes > 0);
}

function updateInputs({ account, inputs }: InputUpdate, readings: readonly PartReading[]): number {
  let increasedBytes = 0;
  account.inputs = updateParts(account.inputs, readings, inputs, (_, bytes) => {
    increasedBytes += bytes;
  });
  return increasedBytes;
}
