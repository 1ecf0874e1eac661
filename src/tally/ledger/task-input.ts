import { OWN_INPUT, type PartReading, type TaskReading } from '../../listing/listing.ts';
import { computeCarriedBytes, measureAgeMs } from './account.ts';
import {
  areOwnInput,
  listParts,
  openParts,
  sumBases,
  updateParts,
  type PartsUpdate,
} from './part-accounts.ts';
import { hasFlag, setFlag, TaskFlag, type TaskAccount } from './task-account.ts';

export interface InputUpdate {
  readonly inputs: PartsUpdate;
  /** The rate of the streams of all inputs together. */
  readonly inputRate: number;
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
  const isFirst = !hasFlag(account, TaskFlag.reportsInput);
  setFlag(account, TaskFlag.reportsInput, true);
  if (isFirst && isOwn && !isNew) {
    account.inputs = openParts(reading.inputs, inputs.findings);
    return 0;
  }
  return isFirst || isOwn === wasOwn ? updateInputs(update, reading.inputs) : switchSource(update);
}

export function hasInput({ inputs }: TaskReading): boolean {
  return inputs.some(({ bytes = 0 }) => bytes > 0);
}

function updateInputs({ account, inputs }: InputUpdate, readings: readonly PartReading[]): number {
  const { findings } = inputs;
  findings.owedBytes = account.owedInputBytes;
  let gainedBytes = 0;
  account.inputs = updateParts(account.inputs, readings, inputs, (_, bytes, isNew) => {
    const paidBytes = isNew ? Math.min(bytes, findings.owedBytes) : 0;
    findings.owedBytes -= paidBytes;
    gainedBytes += bytes - paidBytes;
  });
  account.owedInputBytes = findings.owedBytes;
  return gainedBytes;
}

/**
 * The input bytes are read from another source than before: what lies above all that is counted is added.
 * Afterwards the accounts of the new source grow by themselves.
 */
function switchSource({
  account,
  reading,
  inputs: { findings, lastSeenMs },
  inputRate,
}: InputUpdate): number {
  const parts = listParts(account.inputs, lastSeenMs);
  const totalBytes = reading.inputs.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
  const coveredBytes = sumBases(parts) + account.owedInputBytes;
  const acceptedMs = Math.max(account.firstSeen.monotonicMs, ...parts.map((part) => part.acceptedMs));
  const gainedBytes = Math.max(0, totalBytes - coveredBytes);
  account.inputs = openParts(reading.inputs, findings);
  account.owedInputBytes = Math.max(0, coveredBytes - totalBytes);
  if (gainedBytes > computeCarriedBytes(inputRate, measureAgeMs(acceptedMs, findings))) {
    findings.implausibleCount += 1;
    return 0;
  }
  if (gainedBytes > 0) findings.growingCount += 1;
  return gainedBytes;
}
