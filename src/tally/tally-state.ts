import { z } from 'zod';
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

/** Sorts before the other keys, so that it is restored first. */
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

/** When the last good listing was taken, in wall-clock milliseconds; `undefined` if the first record is not that of the code. */
export function readLastListingMs([first]: readonly (readonly [key: string, value: string])[]):
  number | undefined {
  return first?.[0] === CODE_KEY ? codeSchema.safeParse(parseJson(first[1])).data?.[1] : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Restores the state of a tally, record by record: that of the code first, the others in any order. */
export class TallyRestorer {
  readonly #parts: TallyParts;
  readonly #now: Instant;
  readonly #maxGapMs: number;
  #last: Instant | undefined;
  readonly #accounts: TaskAccount[] = [];
  /** Tasks share the instants of listings. */
  readonly #instants = new Map<number, Instant>();

  /** `maxGapMs` is the longest time between two processes that is believed. */
  constructor(parts: TallyParts, now: Instant, maxGapMs: number) {
    this.#parts = parts;
    this.#now = now;
    this.#maxGapMs = maxGapMs;
  }

  /** Takes the next record; false if it is invalid or does not fit those before it. */
  apply(key: string, value: string): boolean {
    const { ledger, details } = this.#parts;
    const [kind = '', name = '', ...rest] = key.split('\0');
    if ((kind === CODE_KEY) !== (this.#last === undefined)) return false;
    const raw = parseJson(value);
    switch (kind) {
      case CODE_KEY:
        return restore(codeSchema.safeParse(raw).data, (entry) => this.#restoreCode(entry));
      case 'counter': {
        const counter = LEDGER_COUNTERS.find((one) => one === name);
        if (counter === undefined) return false;
        return restore(counterSchema.safeParse(raw).data, (entry) => {
          for (const [labels, bytes, lastUpdatedMs] of entry)
            ledger.counters[counter].restore({ labels, total: bytes, lastUpdatedMs });
        });
      }
      case DETAILS_KEY:
        return restore(detailsSchema.safeParse(raw).data, (entry) => {
          for (const detail of entry) details?.restore(detail);
        });
      case 'task':
        return restore(taskSchema.safeParse(raw).data, (entry) =>
          this.#accounts.push(this.#toTaskAccount({ vsId: name, id: rest.join('\0') }, entry)),
        );
      default:
        return false;
    }
  }

  /** Completes the restoration after the last record; false if there was none. */
  finish(): boolean {
    // Those that left first come first.
    this.#accounts.sort((a, b) => a.lastSeen.monotonicMs - b.lastSeen.monotonicMs);
    for (const task of this.#accounts) this.#parts.ledger.restoreAccount(task);
    return this.#last !== undefined;
  }

  /** The timeline stops while the time between two processes is unknown. */
  #restoreCode([lastMs, wallMs, listings, counts, sum, formats, servers]: CodeEntry): void {
    const { ledger, timeline, meteredFormats } = this.#parts;
    const gapMs = this.#now.wallMs - wallMs;
    const isGapKnown = gapMs > 0 && gapMs <= this.#maxGapMs;
    const restoredMs = lastMs + (isGapKnown ? gapMs : 0);
    timeline.offsetMs = restoredMs - this.#now.monotonicMs;
    this.#last = { monotonicMs: lastMs, wallMs };
    this.#instants.set(lastMs, this.#last);
    const unknownGapMs = isGapKnown ? 0 : this.#maxGapMs;
    ledger.restoreProgress({ listings, last: this.#last }, { restoredMs, unknownGapMs });
    ledger.lifetimes.restore({ counts, sum });
    for (const format of formats) meteredFormats.add(format);
    for (const [vsId, seenMs, seenWallMs] of servers)
      this.#parts.servers.restore(vsId, this.#getInstant(seenMs, seenWallMs));
  }

  #toTaskAccount({ vsId, id }: TaskKey, entry: z.infer<typeof taskSchema>): TaskAccount {
    const [firstWallMs, firstMs, lastMs, activityMs, progress, source, inputBytes, unusualInput] = entry;
    const [, , , , , , , , inputBytesBeyondBases, flags, inputs, outputs] = entry;
    return {
      id,
      vsId,
      firstSeen: this.#getInstant(firstMs, firstWallMs),
      lastSeen: this.#getInstant(lastMs),
      lastActivity: this.#getInstant(activityMs),
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

  /** Only first listings are shown on the wall clock; the others are computed from the last one. */
  #getInstant(monotonicMs: number, wallMs?: number): Instant {
    const known = this.#instants.get(monotonicMs);
    if (known !== undefined) return known;
    const last = this.#last ?? this.#now;
    const instant = { monotonicMs, wallMs: wallMs ?? last.wallMs + monotonicMs - last.monotonicMs };
    this.#instants.set(monotonicMs, instant);
    return instant;
  }
}

/** Restores a record that was parsed; false if it is invalid. */
function restore<Entry>(entry: Entry | undefined, apply: (entry: Entry) => void): boolean {
  if (entry === undefined) return false;
  apply(entry);
  return true;
}
