import type { InputReading, OutputReading } from './listing-tally.ts';

/** How many good listings a task, or an output of it, is remembered for after it left: a listing can flap. */
const TOMBSTONE_LISTINGS = 10;

/** What a byte counter gained between two readings of it. */
export interface Gain {
  readonly bytes: number;
  /** It went backwards: it began anew, and what it holds now is new. */
  readonly isReset: boolean;
}

interface KnownOutput {
  bytes: number;
  /** Number of the last good listing that held it. */
  lastListing: number;
}

/** What the ledger keeps of a task: last values, and when it was seen. */
export interface KnownTask {
  vsId: string;
  input: InputReading | undefined;
  readonly outputs: Map<string, KnownOutput>;
  /** Number of the last good listing that held it. */
  lastListing: number;
  readonly firstSeenWallMs: number;
  readonly firstSeenMs: number;
  lastSeenMs: number;
  /** When its input was last seen to flow, or it was first seen. */
  lastFlowMs: number;
  hasFlowed: boolean;
  isStalled: boolean;
  /** It ran when the exporter started: what it had by then is not counted. */
  readonly isFromBaseline: boolean;
}

const NOTHING: Gain = { bytes: 0, isReset: false };

/** A growing counter gained the difference; one that shrank began anew and gained what it holds. */
function gainBetween(last: number, now: number): Gain {
  return now >= last ? { bytes: now - last, isReset: false } : { bytes: now, isReset: true };
}

/**
 * Takes the input reading of the next good listing and returns what was gained since the last one.
 *
 * A reading from another source is the same total told elsewhere: growth counts, but a smaller value is no
 * counter that began anew. Without a reading nothing is known, and the last value stays.
 */
export function advanceInput(task: KnownTask, reading: InputReading | undefined): Gain {
  if (reading === undefined) return NOTHING;
  const last = task.input;
  task.input = reading;
  if (last === undefined && task.isFromBaseline) return NOTHING;
  const gain = gainBetween(last?.bytes ?? 0, reading.bytes);
  return gain.isReset && last?.source !== reading.source ? NOTHING : gain;
}

/** The same for one output, which may be new, in the good listing of that number. */
export function advanceOutput(task: KnownTask, key: string, reading: OutputReading, listing: number): Gain {
  const last = task.outputs.get(key);
  task.outputs.set(key, { bytes: reading.bytes, lastListing: listing });
  return gainBetween(last?.bytes ?? 0, reading.bytes);
}

/** Forgets the outputs that left long before the good listing of that number. */
export function forgetOutputs(task: KnownTask, listing: number): void {
  for (const [key, output] of task.outputs) {
    if (isForgotten(output, listing)) task.outputs.delete(key);
  }
}

/** Whether what was last seen in one good listing is not remembered in a later one. */
export function isForgotten({ lastListing }: { readonly lastListing: number }, listing: number): boolean {
  return listing - lastListing - 1 > TOMBSTONE_LISTINGS;
}

/** Notes whether a task's input flowed since the last listing. Where nothing is known of it, it may have. */
export function noteFlow(
  task: KnownTask,
  reading: InputReading | undefined,
  gain: Gain,
  nowMs: number,
): void {
  if (gain.bytes > 0 || gain.isReset || reading === undefined) task.lastFlowMs = nowMs;
  if (reading !== undefined && reading.bytes > 0) task.hasFlowed = true;
}
