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
 * The records in which the state of a service code is persisted, as JSON. Tasks and counters are arrays, because their keys
 * would take more space than their values. The names of a record are in its key.
 *
 * Times are those of the tally (`TallyParts.timeline`), unless they are of the wall clock.
 *
 * A change of a record requires a new FORMAT in state/open-database.ts.
 */

const count = z.int().nonnegative();
const total = z.number().nonnegative();
const time = z.number();
const base = z.number().min(-1).describe('-1 without a valid value');

/** An account without its run. */
const accountSchema = z.object({
  baseBytes: base,
  acceptedMs: time,
  hasGrown: z.boolean(),
  streamRate: total,
});
const partSchema = accountSchema.extend({ identity: count, connections: count, departedMs: time.optional() });
/** As they are in memory: numbers in the usual case. */
const partsSchema = z.union([
  z.array(z.number()).refine(({ length }) => length % NUMBERS_PER_PART === 0),
  z.array(
    partSchema.transform(({ departedMs, ...part }): PartAccount => ({ ...part, departedMs, run: undefined })),
  ),
]);

const codeSchema = z.object({
  last: z.object({ monotonicMs: time, wallMs: z.number() }).describe('the last good listing'),
  listings: z.int().positive().describe('number of good listings'),
  lifetimes: z.object({ counts: z.array(count).describe('by bucket, not cumulative'), sum: total }),
  meteredFormats: z.array(z.string()),
  servers: z.array(z.tuple([z.string(), time, z.number()])).describe('vs_id, last seen, on the wall clock'),
});

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
  base.describe('of its own input bytes'),
  accountSchema
    .transform((account): Account => ({ ...account, run: undefined }))
    .nullable()
    .describe('its own account, if the base was not accepted when it was last seen'),
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
  const { progress, lifetimes } = ledger;
  if (progress === undefined) return undefined;
  const seen = Array.from(servers.entries, ([vsId, at]): CodeEntry['servers'][number] => [
    vsId,
    at.monotonicMs,
    at.wallMs,
  ]);
  const { counts, sum } = lifetimes.persisted;
  return {
    ...progress,
    lifetimes: { counts: [...counts], sum },
    meteredFormats: [...meteredFormats],
    servers: seen,
  };
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
    unusualInput === undefined ? null : withoutRun(unusualInput),
    task.inputBytesBeyondBases,
    task.flags,
    inputs === undefined ? null : toPartsEntry(inputs),
    toPartsEntry(outputs),
  ];
}

function toPartsEntry(parts: PartAccounts): z.input<typeof partsSchema> {
  return areNumbers(parts) ? parts : parts.map(withoutRun);
}

/** JSON has no member for what is undefined. */
function withoutRun<A extends Account>(account: A): A {
  return { ...account, run: undefined };
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
  return parseCodeEntry(records).last.wallMs;
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
  const toInstant = restoreCode(tally, parseCodeEntry(records), now, maxGapMs);
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
      tasks.push(toTaskAccount({ vsId: name, id: id.join('\0') }, entry, toInstant));
    } else throw new InvalidRecordError(`Expected the key of a record, found ${JSON.stringify(key)}`);
  });
  // Those that left first come first.
  tasks.sort((a, b) => a.lastSeen.monotonicMs - b.lastSeen.monotonicMs);
  for (const task of tasks) ledger.restoreAccount(task);
}

/** The timeline stops while the time between two processes is unknown. */
function restoreCode(tally: TallyParts, entry: CodeEntry, now: Instant, maxGapMs: number): ToInstant {
  const { ledger, timeline, meteredFormats } = tally;
  const { last, listings, lifetimes, servers } = entry;
  const gapMs = now.wallMs - last.wallMs;
  const isGapKnown = gapMs > 0 && gapMs <= maxGapMs;
  const restoredMs = last.monotonicMs + (isGapKnown ? gapMs : 0);
  timeline.offsetMs = restoredMs - now.monotonicMs;
  const toInstant = shareInstants(last);
  ledger.restoreProgress({ listings, last }, { restoredMs, unknownGapMs: isGapKnown ? 0 : maxGapMs });
  ledger.lifetimes.restore(lifetimes);
  for (const format of entry.meteredFormats) meteredFormats.add(format);
  for (const [vsId, seenMs, wallMs] of servers) tally.servers.restore(vsId, toInstant(seenMs, wallMs));
  return toInstant;
}

function toTaskAccount(key: TaskKey, entry: z.infer<typeof taskSchema>, toInstant: ToInstant): TaskAccount {
  const [firstWallMs, firstMs, lastMs, activityMs, progress, source, inputBytes, unusualInput] = entry;
  const [, , , , , , , , inputBytesBeyondBases, flags, inputs, outputs] = entry;
  return {
    ...key,
    firstSeen: toInstant(firstMs, firstWallMs),
    lastSeen: toInstant(lastMs),
    lastActivity: toInstant(activityMs),
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

/** Returns the instant of a monotonic time. Tasks share the instants of listings. */
type ToInstant = (monotonicMs: number, wallMs?: number) => Instant;

/** Only first listings are shown on the wall clock; the time of the others is computed from the last one. */
function shareInstants(last: Instant): ToInstant {
  const instants = new Map([[last.monotonicMs, last]]);
  return (monotonicMs, wallMs = last.wallMs + monotonicMs - last.monotonicMs) => {
    const instant = instants.get(monotonicMs) ?? { monotonicMs, wallMs };
    instants.set(monotonicMs, instant);
    return instant;
  };
}
