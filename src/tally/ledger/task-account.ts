import type { Instant } from './instant.ts';
import type { InputReading, OutputReading } from './listing-tally.ts';

/** How many good listings a task, or an output of it, is remembered for after it left: a listing can flap. */
const TOMBSTONE_LISTINGS = 10;

/** What a byte counter gained between two readings of it. */
export interface Gain {
  readonly bytes: number;
  /** It went backwards: it began anew, and what it holds now is new. */
  readonly isReset: boolean;
}

/**
 * The outputs of a task: of each its identity, its bytes and the number of the last good listing that held it, one
 * after the other, sorted by identity. Plain numbers in one array take a third of what objects would.
 */
type KnownOutputs = number[];

/** Numbers of each output. */
export const CELLS = 3;
const BYTES = 1;
const LAST_LISTING = 2;

/** What the ledger keeps of a task: last values, and when it was seen. */
export interface KnownTask {
  vsId: string;
  /** The last reading of its input bytes; 0 and no source if there was none. */
  inputBytes: number;
  inputSource: InputReading['source'] | undefined;
  outputs: KnownOutputs;
  /** Number of the last good listing that held it. */
  lastListing: number;
  readonly firstSeen: Instant;
  /** When its input was last seen to flow, or it was first seen. */
  lastFlow: Instant;
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
  const { inputBytes, inputSource } = task;
  task.inputBytes = reading.bytes;
  task.inputSource = reading.source;
  if (inputSource === undefined && task.isFromBaseline) return NOTHING;
  const gain = gainBetween(inputBytes, reading.bytes);
  return gain.isReset && inputSource !== reading.source ? NOTHING : gain;
}

/** Takes the outputs of the good listing of that number, sorted by identity; what each of them gained. */
export function advanceOutputs(
  task: KnownTask,
  readings: readonly OutputReading[],
  listing: number,
): { readonly format: string; readonly gain: Gain }[] {
  if (!holdsJust(task.outputs, readings, listing))
    task.outputs = withNewOutputs(task.outputs, readings, listing);
  const known = task.outputs;
  let at = 0;
  return readings.map(({ identity, format, bytes }) => {
    while (known[at] !== identity) at += CELLS;
    const gain = gainBetween(known[at + BYTES] ?? 0, bytes);
    known[at + BYTES] = bytes;
    known[at + LAST_LISTING] = listing;
    return { format, gain };
  });
}

/** Whether the outputs that are remembered are just these, as they nearly always are. */
function holdsJust(known: KnownOutputs, readings: readonly OutputReading[], listing: number): boolean {
  if (known.length !== CELLS * readings.length) return false;
  return readings.every(({ identity }, index) => {
    const at = CELLS * index;
    return known[at] === identity && !isForgotten({ lastListing: known[at + LAST_LISTING] ?? 0 }, listing);
  });
}

/** The outputs that are still remembered, and the new ones, which begin at 0. */
function withNewOutputs(
  known: KnownOutputs,
  readings: readonly OutputReading[],
  listing: number,
): KnownOutputs {
  const outputs = new Map(readings.map(({ identity }) => [identity, [identity, 0, listing]]));
  for (let at = 0; at < known.length; at += CELLS) {
    const [identity = 0, bytes = 0, lastListing = 0] = known.slice(at, at + CELLS);
    if (!isForgotten({ lastListing }, listing)) outputs.set(identity, [identity, bytes, lastListing]);
  }
  return [...outputs.values()].toSorted(([a = 0], [b = 0]) => a - b).flat();
}

/** Whether what was last seen in one good listing is not remembered in a later one. */
export function isForgotten({ lastListing }: { readonly lastListing: number }, listing: number): boolean {
  return listing - lastListing - 1 > TOMBSTONE_LISTINGS;
}

/** Notes whether a task's input flowed since the last listing. Where nothing is known of it, it may have. */
export function noteFlow(task: KnownTask, reading: InputReading | undefined, gain: Gain, at: Instant): void {
  if (gain.bytes > 0 || gain.isReset || reading === undefined) task.lastFlow = at;
  if (reading !== undefined && reading.bytes > 0) task.hasFlowed = true;
}
