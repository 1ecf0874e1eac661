import { z, type ZodType } from 'zod';
import { recordOf } from '../families/record-of.ts';
import { countersOf, LIMITED_GROUPS, type LimitedGroupName } from '../listing/label-groups.ts';
import { isNamed } from '../listing/label-values.ts';
import type { ExpectedCounters } from './expected-counters.ts';
import type { GroupRows } from './group-rows.ts';
import { instantSchema, type Instant } from '../runtime/instant.ts';
import { NO_VALUE } from './ledger/account.ts';
import { OWN_INPUT } from '../listing/listing.ts';
import { REMEMBERED_MS } from './ledger/departed-accounts.ts';
import type { Ledger } from './ledger/ledger.ts';
import { areNumbers, NUMBERS_PER_PART, type PartAccounts } from './ledger/part-accounts.ts';
import { mostOutputsSchema, type ExpectedTasks } from './expectations.ts';
import { lossMemorySchema, type Losses } from './losses/losses.ts';
import { addLastSeen, ALL_TASK_FLAGS, type TaskAccount } from './ledger/task-account.ts';
import type { TaskDetails } from './task-details.ts';

/*
 * The records of the state of a service code, as JSON: one for the code, one for each task. A task is an
 * array, as keys would take more space than values; its id is in the key of the record. Times are those of
 * `TallyParts.timeline`, unless of the wall clock. A change of a record needs a new FORMAT in `state/`.
 */

const count = z.int().nonnegative();
const total = z.number().nonnegative();
const time = z.number();

/** An account without its waiting values. */
const partSchema = z.object({
  identity: z.int().min(OWN_INPUT),
  baseBytes: z.number().min(NO_VALUE),
  acceptedMs: time,
  streamRate: total,
  bytesBeforeReset: total,
  connections: count,
  departedMs: time.optional(),
});
/** The accounts as they are in memory: numbers in the usual case. */
const partsSchema = z.union([
  z.array(z.number()).refine(({ length }) => length % NUMBERS_PER_PART === 0),
  z.array(partSchema),
]);

const COUNTER_GROUPS = LIMITED_GROUPS.filter((group) => countersOf(group).length > 0);
const COUNTERS = COUNTER_GROUPS.flatMap((group) => countersOf(group));

const rowsSchema = z.object({
  labelSets: z.array(z.array(z.string())).describe('without the service code'),
  columns: z.partialRecord(z.enum(COUNTERS), z.array(total)),
});
const taskDetailSchema = z.tuple([
  z.string().describe('task id'),
  total.describe('of its input bytes'),
  z.array(z.tuple([z.string(), total])).describe('outputs: format, total'),
]);

const expectedCountersSchema = z.object({
  removedMs: time.optional(),
  inputBytes: total,
  outputBytes: total,
});

const codeSchema = z.object({
  taskCount: count.describe('number of records of tasks'),
  lastSeenSum: z.number().describe('sum of when they were last listed, modulo 2^32'),
  last: instantSchema.describe('the last good listing'),
  listings: z.int().positive().describe('number of good listings'),
  lifetimes: z.object({ counts: z.array(count).describe('by bucket, not cumulative'), sum: total }),
  meteredFormats: z.array(z.string()),
  servers: z.array(z.tuple([z.string(), time, z.number()])).describe('vs_id, last seen, on the wall clock'),
  counters: z.partialRecord(z.enum(COUNTER_GROUPS), rowsSchema),
  details: z.array(taskDetailSchema).describe('with per-task metrics').optional(),
  expectedCounters: z.array(z.tuple([z.string(), expectedCountersSchema])).optional(),
  losses: lossMemorySchema,
  mostOutputs: mostOutputsSchema,
});
type CodeEntry = z.output<typeof codeSchema>;

const taskSchema = z.tuple([
  z.string().describe('vs_id'),
  z.number().describe('first seen, on the wall clock'),
  time.describe('first seen'),
  time.describe('last seen'),
  time.describe('last activity'),
  total.describe('progress'),
  z.int().min(0).max(ALL_TASK_FLAGS).describe('flags'),
  partsSchema.describe('inputs'),
  partsSchema.describe('outputs'),
]);

/** A record of a tally: its key, without the service code, and its value; `undefined` deletes it. */
export type StateChange = readonly [key: string, value: string | undefined];

export type StateRecord = readonly [key: string, value: string];

/** This key sorts before those of the tasks. */
export const CODE_KEY = 'code';
const TASK_KIND = 'task';

export function toTaskKey(id: string): string {
  return `${TASK_KIND}\0${id}`;
}

/** What is persisted. Rows of gauges are not, apart from servers: the next listing assigns them. */
export interface TallyParts {
  readonly ledger: Ledger;
  readonly groups: Readonly<Record<LimitedGroupName, GroupRows>>;
  readonly details: TaskDetails | undefined;
  readonly expectedCounters: ExpectedCounters;
  readonly expectedTasks: ExpectedTasks;
  readonly losses: Losses;
  readonly meteredFormats: Set<string>;
  /** What its times are ahead of the monotonic clock: they continue from process to process. */
  readonly timeline: { offsetMs: number };
}

/** The records of a tally after a commit. They are made when they are listed: without a state, none are. */
export interface TallyRecords {
  /** Those that the commit changed, until the next commit. */
  readonly listChanges: () => Iterable<StateChange>;
  /** All records, at any time. */
  readonly listAll: () => Iterable<StateRecord>;
}

export function createRecords(tally: TallyParts): TallyRecords {
  const { ledger } = tally;
  return {
    *listChanges() {
      yield toCodeRecord(tally);
      // A key that is removed may be in use again.
      for (const id of ledger.removedTasks) yield [toTaskKey(id), undefined];
      for (const task of ledger.listChangedAccounts()) yield toTaskRecord(task);
    },
    *listAll() {
      yield toCodeRecord(tally);
      for (const task of ledger.listAccounts()) yield toTaskRecord(task);
    },
  };
}

function toCodeRecord(tally: TallyParts): StateRecord {
  return [CODE_KEY, JSON.stringify(toCodeEntry(tally))];
}

function toTaskRecord(task: TaskAccount): StateRecord {
  return [toTaskKey(task.id), JSON.stringify(toTaskEntry(task))];
}

function toCodeEntry({
  ledger,
  groups,
  meteredFormats,
  details,
  expectedCounters,
  expectedTasks,
  losses,
}: TallyParts): object | undefined {
  const { progress } = ledger;
  return (
    progress && {
      ...progress,
      taskCount: ledger.accountCount,
      // It tells whether a record is older than that of the code.
      lastSeenSum: ledger.lastSeenSum,
      lifetimes: ledger.lifetimes.persisted,
      meteredFormats: [...meteredFormats],
      servers: [...groups.userServers.limit.listSeen()]
        .filter(([labels]) => isNamed(labels))
        .map(([[vsId], { monotonicMs, wallMs }]) => [vsId, monotonicMs, wallMs]),
      counters: recordOf(COUNTER_GROUPS, (group) => groups[group].exportCounters()),
      details: details && [...details.exportDetails()],
      expectedCounters: [...expectedCounters.exportCounters()],
      losses: losses.memory,
      mostOutputs: expectedTasks.mostOutputs,
    }
  );
}

function toTaskEntry(task: TaskAccount): z.input<typeof taskSchema> {
  const { firstSeen, lastSeen, lastActivity, inputs, outputs } = task;
  return [
    task.vsId,
    firstSeen.wallMs,
    firstSeen.monotonicMs,
    lastSeen.monotonicMs,
    lastActivity.monotonicMs,
    task.progress,
    task.flags,
    toPartsEntry(inputs),
    toPartsEntry(outputs),
  ];
}

/** Waiting values are not written: JSON leaves out what is undefined. */
function toPartsEntry(parts: PartAccounts): z.input<typeof partsSchema> {
  return areNumbers(parts) ? parts : parts.map((part) => ({ ...part, waitingValues: undefined }));
}

/** Parses a record; `undefined` if it is invalid. */
function parseRecord<Entry>(schema: ZodType<Entry>, text: string): Entry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return schema.safeParse(value).data;
}

/** Reads the record of the code, the first of all of its records; `undefined` if it is missing or invalid. */
export function readCodeEntry([first]: readonly StateRecord[]): CodeEntry | undefined {
  return first?.[0] === CODE_KEY ? parseRecord(codeSchema, first[1]) : undefined;
}

/** Takes all records, that of the code first. Returns false and changes nothing if any is invalid. */
export function restoreRecords(tally: TallyParts, records: readonly StateRecord[], now: Instant): boolean {
  const code = readCodeEntry(records);
  if (code?.taskCount !== records.length - 1) return false;
  const toInstant = shareInstants(code.last);
  const tasks = records.slice(1).flatMap((record) => readTaskAccount(record, toInstant) ?? []);
  const lastSeenSum = tasks.reduce((sum, task) => addLastSeen(sum, task), 0);
  if (tasks.length !== code.taskCount || lastSeenSum !== code.lastSeenSum) return false;
  restoreCode(tally, code, now);
  // The ledger takes the tasks in the order in which they left.
  tasks.sort((a, b) => a.lastSeen.monotonicMs - b.lastSeen.monotonicMs);
  for (const task of tasks) tally.ledger.restoreAccount(task);
  return true;
}

/** The timeline stops while the time between two processes is unknown. */
function restoreCode(tally: TallyParts, entry: CodeEntry, now: Instant): void {
  const { ledger, timeline, meteredFormats, groups, details, expectedCounters, losses } = tally;
  const { last, listings } = entry;
  const gapMs = now.wallMs - last.wallMs;
  const isGapKnown = gapMs > 0 && gapMs <= REMEMBERED_MS;
  const restoredMs = last.monotonicMs + (isGapKnown ? gapMs : 0);
  timeline.offsetMs = restoredMs - now.monotonicMs;
  ledger.restoreProgress({ listings, last }, { restoredMs, unknownGapMs: isGapKnown ? 0 : REMEMBERED_MS });
  ledger.lifetimes.restore(entry.lifetimes);
  for (const format of entry.meteredFormats) meteredFormats.add(format);
  for (const { limit } of [groups.taskServers, groups.userServers])
    for (const [vsId, monotonicMs, wallMs] of entry.servers) limit.restore([vsId], { monotonicMs, wallMs });
  for (const group of COUNTER_GROUPS) {
    const rows = entry.counters[group];
    if (rows !== undefined) groups[group].restoreCounters(rows, last);
  }
  for (const detail of entry.details ?? []) details?.restore(detail);
  expectedCounters.restore(entry.expectedCounters ?? []);
  tally.expectedTasks.restore(entry.mostOutputs);
  losses.restore(entry.losses, isGapKnown);
}

/** `undefined` if the record is not that of a task, or is invalid. */
function readTaskAccount([key, value]: StateRecord, toInstant: ToInstant): TaskAccount | undefined {
  const [kind, ...id] = key.split('\0');
  const entry = kind === TASK_KIND ? parseRecord(taskSchema, value) : undefined;
  if (entry === undefined) return undefined;
  const [vsId, firstWallMs, firstMs, lastMs, activityMs, progress, flags, inputs, outputs] = entry;
  return {
    id: id.join('\0'),
    vsId,
    firstSeen: toInstant(firstMs, firstWallMs),
    lastSeen: toInstant(lastMs),
    lastActivity: toInstant(activityMs),
    progress,
    inputs,
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
