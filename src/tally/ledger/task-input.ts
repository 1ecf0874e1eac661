import type { TaskReading } from '../../listing/listing.ts';
import { computeCarriedBytes, judge, judgeFirst, measureAgeMs, NO_VALUE, openAccount } from './account.ts';
import { listParts, openParts, updateParts, type PartsUpdate } from './part-accounts.ts';
import { readOwnInput, storeOwnInput, type InputSource, type TaskAccount } from './task-account.ts';

/** What a commit knows of the input of a listed task. */
export interface InputUpdate {
  /** The `streamRate` is that of one input. */
  readonly inputs: PartsUpdate;
  readonly account: TaskAccount;
  readonly reading: TaskReading;
  /** Whether the task had no account before this listing. */
  readonly isNew: boolean;
}

/** Judges the input of a listed task; returns the bytes that it adds, `undefined` if the listing has no valid value. */
export function updateInput(update: InputUpdate): number | undefined {
  const { account, reading } = update;
  const source = findSource(reading);
  if (source === undefined) {
    keepInput(update);
    return undefined;
  }
  const lastSource = account.inputSource;
  account.inputSource = source;
  if (lastSource !== undefined && lastSource !== source) return switchSource(lastSource, update);
  return source === 'task' ? updateOwnInput(lastSource, update) : updateInputs(update);
}

/** The rate of the streams of all inputs of a task together. */
function computeInputRate({ inputCount }: TaskReading, streamRate: number): number {
  return streamRate * Math.max(1, inputCount);
}

/** Whether a task has received input. */
export function hasInput({ inputBytes, inputs }: TaskReading): boolean {
  if (inputBytes !== undefined) return inputBytes > 0;
  return inputs.some(({ bytes = 0 }) => bytes > 0);
}

function findSource({ inputBytes, inputs }: TaskReading): InputSource | undefined {
  if (inputBytes !== undefined) return 'task';
  return inputs.some(({ bytes }) => bytes !== undefined) ? 'inputs' : undefined;
}

/** A listing without a valid value changes no base. Inputs without values are noted: their first ones are bases. */
function keepInput(update: InputUpdate): void {
  const { account, reading, inputs } = update;
  if (account.inputSource === 'task') storeOwnInput(account, readOwnInput(account), inputs.meter.nowMs);
  else if (reading.inputs.length > 0 || account.inputs !== undefined) updateInputs(update);
}

function updateOwnInput(lastSource: InputSource | undefined, update: InputUpdate): number {
  const { account, reading, isNew } = update;
  const { meter, streamRate } = update.inputs;
  const bytes = reading.inputBytes ?? NO_VALUE;
  const rate = computeInputRate(reading, streamRate);
  if (lastSource === undefined) {
    account.inputs = undefined;
    storeOwnInput(account, openAccount(bytes, meter), meter.nowMs);
    return isNew ? judgeFirst(bytes, rate, meter) : 0;
  }
  const input = readOwnInput(account);
  const resetCount = meter.resetCount;
  const gainedBytes = judge(input, bytes, rate, meter);
  if (meter.resetCount > resetCount) account.inputBytesBeyondBases = 0;
  storeOwnInput(account, input, meter.nowMs);
  return gainedBytes;
}

function updateInputs(update: InputUpdate): number {
  const { account, reading, inputs } = update;
  const coveredBytes = sumBases('inputs', account);
  let gainedBytes = 0;
  account.inputs = updateParts(account.inputs ?? [], reading.inputs, inputs, (_, bytes) => {
    gainedBytes += bytes;
  });
  // Bases that fell, and those of inputs that are forgotten, still are bytes that are counted.
  const lostBytes = coveredBytes + gainedBytes - sumBases('inputs', account);
  account.inputBytesBeyondBases += Math.max(0, lostBytes);
  return gainedBytes;
}

/**
 * Rule 1 for the whole task when its input bytes are read from another source than before: what lies above all that is
 * counted is added. Afterwards the accounts of the new source grow by themselves.
 */
function switchSource(lastSource: InputSource, update: InputUpdate): number {
  const { account, reading } = update;
  const { meter, streamRate } = update.inputs;
  const totalBytes = reading.inputBytes ?? reading.inputs.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
  const coveredBytes = sumBases(lastSource, account) + account.inputBytesBeyondBases;
  const ageMs = measureAgeMs(findLastAcceptedMs(lastSource, update), meter);
  const carriedBytes = computeCarriedBytes(computeInputRate(reading, streamRate), ageMs);
  const gainedBytes = Math.max(0, totalBytes - coveredBytes);
  account.inputBytesBeyondBases = Math.max(0, coveredBytes - totalBytes);
  openInput(update);
  if (gainedBytes > carriedBytes) {
    meter.implausibleCount += 1;
    return 0;
  }
  if (gainedBytes > 0) meter.growingCount += 1;
  return gainedBytes;
}

/** Opens the accounts of the source of a reading; their first values add nothing. */
function openInput({ account, reading, inputs: { meter } }: InputUpdate): void {
  const { inputBytes, inputs } = reading;
  account.inputs = inputBytes === undefined ? openParts(inputs, meter) : undefined;
  storeOwnInput(account, openAccount(inputBytes, meter), meter.nowMs);
}

function sumBases(source: InputSource, account: TaskAccount): number {
  if (source === 'task') return account.inputBytes;
  const inputs = listParts(account.inputs ?? [], account.lastSeen.monotonicMs);
  return inputs.reduce((sum, { baseBytes }) => sum + Math.max(0, baseBytes), 0);
}

function findLastAcceptedMs(source: InputSource, { account, inputs }: InputUpdate): number {
  if (source === 'task') return readOwnInput(account).acceptedMs;
  return Math.max(...listParts(account.inputs ?? [], inputs.lastSeenMs).map(({ acceptedMs }) => acceptedMs));
}
