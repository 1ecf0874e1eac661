import { z, type ZodType } from 'zod';
import { runInSteps, type ItemCount } from '../runtime/steps.ts';
import { LEDGER_COUNTERS, type LedgerCounter } from './family-keys.ts';
import type { Instant } from './instant.ts';
import type { Account } from './ledger/account.ts';
import type { TaskKey } from './ledger/departed-accounts.ts';
import type { Ledger } from './ledger/ledger.ts';
import { areNumbers, NUMBERS_PER_PART, type PartAccount, type PartAccounts } from './ledger/part-accounts.ts';
import { ALL_TASK_FLAGS, type TaskAccount } from './ledger/task-account.ts';
import type { RecentServers } from './recent-servers.ts';
import type { TaskDetails } from './task-details.ts';

/*
 * The records in which the state of a service code is persisted: JSON arrays, because their keys would take more space
 * than their values. The names of a record are in its key.
 *
 * Times are those of the tally (`TallyParts.timeline`), unless they are of the wall clock.
 *
 * A change of a record requires a new FORMAT in state/open-database.ts.
 */

const count = z.int().nonnegative();
const total = z.number().nonnegative();
const time = z.number();
const account = [
  z.number().min(-1).describe('base, -1 without a valid value'),
  time.describe('when the base was accepted'),
  z.boolean().describe('has grown'),
  total.describe('rate of its stream in bytes per second, if it is above the setting'),
] as const;
const accountSchema = z.tuple([...account]).transform(toAccount);
const partSchema = z
  .tuple([
    count.describe('identity'),
    ...account,
    count.describe('connections'),
    time.nullable().describe('when it was last listed, if it has left its task'),
  ])
  .transform(([identity, base, accepted, hasGrown, rate, connections, departed]): PartAccount => ({
    identity,
    ...toAccount([base, accepted, hasGrown, rate]),
    connections,
    departedMs: departed ?? undefined,
  }));
/** As they are in memory: numbers in the usual case. */
const partsSchema = z.union([
  z.array(z.number()).refine(({ length }) => length % NUMBERS_PER_PART === 0),
  z.array(partSchema),
]);

const codeSchema = z.tuple([
  time.describe('of the last good listing'),
  z.number().describe('the same on the wall clock'),
  z.int().positive().describe('number of good listings'),
  z.array(count).describe('lifetimes: counts by bucket, not cumulative'),
  total.describe('lifetimes: sum, in seconds'),
  z.array(z.string()).describe('formats seen with connections'),
  z.array(z.tuple([z.string(), time, z.number()])).describe('servers: vs_id, last seen, on the wall clock'),
]);

const counterSchema = z.array(
  z.tuple([z.array(z.string()), total, time]).describe('labels without the service code, total, last update'),
);

const detailsSchema = z.array(
  z.tuple([
    z.string().describe('task id'),
    total.describe('of its input bytes'),
    z.array(z.tuple([z.string(), total])).describe('outputs: format, total'),
  ]),
);

const taskSchema = z.tuple([
  z.number().describe('first seen, on the wall clock'),
  time.describe('first seen'),
  time.describe('last seen'),
  time.describe('last activity'),
  total.describe('progress'),
  z.enum(['task', 'inputs', '']).describe('source of its input bytes'),
  z.number().min(-1).describe('base of its own input bytes'),
  accountSchema.nullable().describe('its own account, if the base was not accepted when it was last seen'),
  total.describe('input bytes that are counted and that no base shows'),
  z.int().min(0).max(ALL_TASK_FLAGS).describe('flags'),
  partsSchema.nullable().describe('inputs'),
  partsSchema.describe('outputs'),
]);

/** A record of a tally: its key, without the service code, and its value; `undefined` deletes it. */
export type StateChange = readonly [key: string, value: string | undefined];

/** A record that is persisted. */
export type StateRecord = readonly [key: string, value: string];

/** Sorts before the other keys. */
export const CODE_KEY = 'code';
const DETAILS_KEY = 'details';

export function toCounterKey(counter: LedgerCounter): string {
  return `counter\0${counter}`;
}

/** Server names are label values and hold no control characters; ids may. */
export function toTaskKey({ vsId, id }: TaskKey): string {
  return `task\0${vsId}\0${id}`;
}

/** The parts of a tally that are persisted. Slots of gauges are not: the next listing assigns them. */
export interface TallyParts {
  readonly ledger: Ledger;
  readonly servers: RecentServers;
  readonly details: TaskDetails | undefined;
  readonly meteredFormats: Set<string>;
  /** What its times are ahead of the monotonic clock: they continue from process to process. */
  readonly timeline: { offsetMs: number };
}

/** Which records to export. */
export type RecordSelection = 'all' | 'changed';

/** The records of a tally: all, or those that the last commit changed. None before its first good listing. */
export function* exportRecords(tally: TallyParts, selection: RecordSelection): Generator<StateChange, void> {
  const { ledger, details } = tally;
  const code = toCodeEntry(tally);
  if (code === undefined) return;
  const isWhole = selection === 'all';
  yield [CODE_KEY, JSON.stringify(code)];
  for (const counter of LEDGER_COUNTERS) {
    const family = ledger.counters[counter];
    if (isWhole ? family.size === 0 : !family.hasChanged) continue;
    const series = Array.from(
      family.exportSeries(),
      ({ labels, total: bytes, lastUpdatedMs }): SeriesEntry => [[...labels], bytes, lastUpdatedMs],
    );
    yield [toCounterKey(counter), JSON.stringify(series)];
  }
  if (details !== undefined) yield [DETAILS_KEY, JSON.stringify([...details.exportDetails()])];
  // A key that is removed may be in use again.
  if (!isWhole) for (const task of ledger.removedTasks) yield [toTaskKey(task), undefined];
  for (const task of isWhole ? ledger.listAccounts() : ledger.listChangedAccounts())
    yield [toTaskKey(task), JSON.stringify(toTaskEntry(task))];
}

type SeriesEntry = z.infer<typeof counterSchema>[number];
type CodeEntry = z.infer<typeof codeSchema>;

function toCodeEntry({ ledger, servers, meteredFormats }: TallyParts): CodeEntry | undefined {
  const { progress } = ledger;
  if (progress === undefined) return undefined;
  const { last, listings } = progress;
  const { counts, sum } = ledger.lifetimes.persisted;
  const seen = Array.from(servers.entries, ([vsId, at]): CodeEntry[6][number] => [
    vsId,
    at.monotonicMs,
    at.wallMs,
  ]);
  return [last.monotonicMs, last.wallMs, listings, [...counts], sum, [...meteredFormats], seen];
}

function toTaskEntry(task: TaskAccount): z.input<typeof taskSchema> {
  const { firstSeen, lastSeen, lastActivity, inputs, outputs, unusualInput } = task;
  return [
    firstSeen.wallMs,
    firstSeen.monotonicMs,
    lastSeen.monotonicMs,
    lastActivity.monotonicMs,
    task.progress,
    task.inputSource ?? '',
    task.inputBytes,
    unusualInput === undefined ? null : toAccountEntry(unusualInput),
    task.inputBytesBeyondBases,
    task.flags,
    inputs === undefined ? null : toPartsEntry(inputs),
    toPartsEntry(outputs),
  ];
}

type AccountEntry = [baseBytes: number, acceptedMs: number, hasGrown: boolean, streamRate: number];
type PartsEntry = z.input<typeof partsSchema>;

/** An account without its run. */
function toAccountEntry({ baseBytes, acceptedMs, hasGrown, streamRate }: Account): AccountEntry {
  return [baseBytes, acceptedMs, hasGrown, streamRate];
}

function toAccount([baseBytes, acceptedMs, hasGrown, streamRate]: AccountEntry): Account {
  return { baseBytes, acceptedMs, hasGrown, streamRate, run: undefined };
}

function toPartsEntry(parts: PartAccounts): PartsEntry {
  if (areNumbers(parts)) return parts;
  return parts.map((part): z.input<typeof partSchema> => [
    part.identity,
    ...toAccountEntry(part),
    part.connections,
    part.departedMs ?? null,
  ]);
}

/** A record that is not of this format, or does not fit the others. */
export class InvalidRecordError extends Error {
  override readonly name = 'InvalidRecordError';
}

function parseRecord<Entry>(schema: ZodType<Entry>, text: string): Entry {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new InvalidRecordError('Expected a valid record of the state', { cause });
  }
}

/** When the last good listing was taken, in wall-clock milliseconds. */
export function readLastListingMs(records: readonly StateRecord[]): number {
  return parseCodeEntry(records)[1];
}

function parseCodeEntry([first]: readonly StateRecord[]): CodeEntry {
  if (first?.[0] !== CODE_KEY) throw new InvalidRecordError('Expected the record of the code first');
  return parseRecord(codeSchema, first[1]);
}

/**
 * Restores the state of a tally from all of its records, in the order of their keys, in steps. Throws an {@link InvalidRecordError}.
 *
 * @param maxGapMs - the longest time between two processes that is believed
 */
export function* restoreRecords(
  tally: TallyParts,
  records: readonly StateRecord[],
  now: Instant,
  maxGapMs: number,
): Generator<ItemCount, void> {
  const { ledger, details } = tally;
  const instants = restoreCode(tally, parseCodeEntry(records), now, maxGapMs);
  const tasks: TaskAccount[] = [];
  yield* runInSteps(records.slice(1), ([key, value]) => {
    const [kind = '', name = '', ...id] = key.split('\0');
    const counter = LEDGER_COUNTERS.find((one) => kind === 'counter' && one === name);
    if (counter !== undefined)
      for (const [labels, bytes, lastUpdatedMs] of parseRecord(counterSchema, value))
        ledger.counters[counter].restore({ labels, total: bytes, lastUpdatedMs });
    else if (kind === DETAILS_KEY)
      for (const detail of parseRecord(detailsSchema, value)) details?.restore(detail);
    else if (kind === 'task') {
      const entry = parseRecord(taskSchema, value);
      tasks.push(toTaskAccount({ vsId: name, id: id.join('\0') }, entry, instants));
    } else throw new InvalidRecordError(`Expected the key of a record, found ${JSON.stringify(key)}`);
  });
  // Those that left first come first.
  tasks.sort((a, b) => a.lastSeen.monotonicMs - b.lastSeen.monotonicMs);
  for (const task of tasks) ledger.restoreAccount(task);
}

/** The timeline stops while the time between two processes is unknown. */
function restoreCode(tally: TallyParts, entry: CodeEntry, now: Instant, maxGapMs: number): Instants {
  const { ledger, timeline, meteredFormats } = tally;
  const [monotonicMs, wallMs, listings, counts, sum, formats, servers] = entry;
  const gapMs = now.wallMs - wallMs;
  const isGapKnown = gapMs > 0 && gapMs <= maxGapMs;
  const restoredMs = monotonicMs + (isGapKnown ? gapMs : 0);
  timeline.offsetMs = restoredMs - now.monotonicMs;
  const last = { monotonicMs, wallMs };
  const instants = new Instants(last);
  ledger.restoreProgress({ listings, last }, { restoredMs, unknownGapMs: isGapKnown ? 0 : maxGapMs });
  ledger.lifetimes.restore({ counts, sum });
  for (const format of formats) meteredFormats.add(format);
  for (const [vsId, seenMs, seenWallMs] of servers)
    tally.servers.restore(vsId, instants.get(seenMs, seenWallMs));
  return instants;
}

function toTaskAccount(key: TaskKey, entry: z.infer<typeof taskSchema>, instants: Instants): TaskAccount {
  const [firstWallMs, firstMs, lastMs, activityMs, progress, source, inputBytes, unusualInput] = entry;
  const [, , , , , , , , inputBytesBeyondBases, flags, inputs, outputs] = entry;
  return {
    ...key,
    firstSeen: instants.get(firstMs, firstWallMs),
    lastSeen: instants.get(lastMs),
    lastActivity: instants.get(activityMs),
    progress,
    inputSource: source === '' ? undefined : source,
    inputBytes,
    unusualInput: unusualInput ?? undefined,
    inputBytesBeyondBases,
    inputs: inputs ?? undefined,
    outputs,
    flags,
  };
}

/** The instants of listings, which tasks share. */
class Instants {
  readonly #last: Instant;
  readonly #instants: Map<number, Instant>;

  constructor(last: Instant) {
    this.#last = last;
    this.#instants = new Map([[last.monotonicMs, last]]);
  }

  /** Only first listings are shown on the wall clock; the time of the others is computed from the last one. */
  get(monotonicMs: number, wallMs = this.#last.wallMs + monotonicMs - this.#last.monotonicMs): Instant {
    const known = this.#instants.get(monotonicMs);
    if (known !== undefined) return known;
    const instant = { monotonicMs, wallMs };
    this.#instants.set(monotonicMs, instant);
    return instant;
  }
}
