import type { InputReading, OutputReading } from './listing-tally.ts';

/** How many good listings a task, or an output of it, is remembered for after it left: a listing can flap. */
export const TOMBSTONE_LISTINGS = 10;

/** What a byte counter gained between two readings of it. */
export interface Gain {
  readonly bytes: number;
  /** It went backwards: it began anew, and what it holds now is new. */
  readonly isReset: boolean;
}

interface KnownOutput {
  readonly format: string;
  bytes: number;
  missedListings: number;
}

/** What the ledger keeps of a task: last values, and when it was seen. */
export interface KnownTask {
  vsId: string;
  input: InputReading | undefined;
  readonly outputs: Map<string, KnownOutput>;
  /** Good listings since the last one that held it: 0 while it runs. */
  missedListings: number;
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

/** The same for one output, which may be new. */
export function advanceOutput(task: KnownTask, key: string, reading: OutputReading): Gain {
  const output = task.outputs.get(key);
  if (output === undefined) {
    task.outputs.set(key, { format: reading.format, bytes: reading.bytes, missedListings: 0 });
    return { bytes: reading.bytes, isReset: false };
  }
  const gain = gainBetween(output.bytes, reading.bytes);
  output.bytes = reading.bytes;
  output.missedListings = 0;
  return gain;
}

/** Counts a good listing without some of the task's outputs, and forgets those gone for long. */
export function ageOutputs(task: KnownTask, present: ReadonlyMap<string, unknown>): void {
  for (const [key, output] of task.outputs) {
    if (present.has(key)) continue;
    output.missedListings += 1;
    if (output.missedListings > TOMBSTONE_LISTINGS) task.outputs.delete(key);
  }
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
