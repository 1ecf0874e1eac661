import { LEDGER_COUNTERS } from './family-keys.ts';
import type { Instant } from './instant.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { Account } from './ledger/account.ts';
import { areNumbers, type PartAccounts } from './ledger/part-accounts.ts';
import type { TaskAccount } from './ledger/task-account.ts';
import type { RecentServers } from './recent-servers.ts';
import {
  CODE_KEY,
  DETAILS_KEY,
  parseStateEntry,
  toCounterKey,
  toTaskKey,
  type CodeEntry,
  type CounterEntry,
  type DetailsEntry,
  type StateChange,
  type TaskEntry,
} from './state-entry.ts';
import type { TaskDetails } from './task-details.ts';
import type { Timeline } from './timeline.ts';

/** The parts of a tally that are persisted. Slots of gauges are not: the next listing assigns them. */
export interface TallyParts {
  readonly ledger: Ledger;
  readonly servers: RecentServers;
  readonly details: TaskDetails | undefined;
  readonly meteredFormats: Set<string>;
  readonly timeline: Timeline;
}

/** Which records to export. */
export type RecordSelection = 'all' | 'changed';

/** The records of a tally: all, or those that the last commit changed. None before its first good listing. */
export function* exportRecords(tally: TallyParts, selection: RecordSelection): Generator<StateChange, void> {
  const { ledger, details, timeline } = tally;
  const code = toCodeEntry(tally);
  if (code === undefined) return;
  const isWhole = selection === 'all';
  yield [CODE_KEY, JSON.stringify(code)];
  for (const counter of LEDGER_COUNTERS) {
    const family = ledger.counters[counter];
    if (isWhole ? family.size === 0 : !family.hasChanged) continue;
    const entry = Array.from(
      family.exportSeries(),
      ({ labels, total, lastUpdatedMs }): CounterEntry[number] => [
        [...labels],
        total,
        timeline.fromMonotonic(lastUpdatedMs),
      ],
    );
    yield [toCounterKey(counter), JSON.stringify(entry)];
  }
  if (details !== undefined) {
    const entry = Array.from(details.exportDetails(), ([id, { input, outputs }]): DetailsEntry[number] => [
      id,
      input,
      Array.from(outputs, ([format, total]) => [format, total]),
    ]);
    yield [DETAILS_KEY, JSON.stringify(entry)];
  }
  // A key that is removed may be in use again.
  if (!isWhole) for (const task of ledger.removedTasks) yield [toTaskKey(task), undefined];
  for (const account of isWhole ? ledger.listAccounts() : ledger.listChangedAccounts())
    yield [toTaskKey(account), JSON.stringify(toTaskEntry(account, timeline))];
}

function toCodeEntry({ ledger, servers, meteredFormats, timeline }: TallyParts): CodeEntry | undefined {
  const { progress } = ledger;
  if (progress === undefined) return undefined;
  const { last, listings } = progress;
  const { counts, sum } = ledger.lifetimes.persisted;
  return [
    timeline.fromMonotonic(last.monotonicMs),
    last.wallMs,
    listings,
    [...counts],
    sum,
    [...meteredFormats],
    Array.from(servers.entries, ([vsId, seen]) => [
      vsId,
      timeline.fromMonotonic(seen.monotonicMs),
      seen.wallMs,
    ]),
  ];
}

type AccountEntry = NonNullable<TaskEntry[7]>;
type PartsEntry = TaskEntry[11];

function toTaskEntry(account: TaskAccount, timeline: Timeline): TaskEntry {
  const { firstSeen, lastSeen, lastActivity, inputs, outputs, unusualInput } = account;
  return [
    firstSeen.wallMs,
    timeline.fromMonotonic(firstSeen.monotonicMs),
    timeline.fromMonotonic(lastSeen.monotonicMs),
    timeline.fromMonotonic(lastActivity.monotonicMs),
    account.progress,
    account.inputSource ?? '',
    account.inputBytes,
    unusualInput === undefined ? null : toAccountEntry(unusualInput, timeline),
    account.inputBytesBeyondBases,
    account.flags,
    inputs === undefined ? null : toPartsEntry(inputs, timeline),
    toPartsEntry(outputs, timeline),
  ];
}

/** An account without its run. */
function toAccountEntry(account: Account, timeline: Timeline): AccountEntry {
  const { baseBytes, acceptedMs, hasGrown, streamRate } = account;
  return [baseBytes, timeline.fromMonotonic(acceptedMs), hasGrown, streamRate];
}

function toAccount([baseBytes, accepted, hasGrown, streamRate]: AccountEntry, timeline: Timeline): Account {
  return { baseBytes, acceptedMs: timeline.toMonotonic(accepted), hasGrown, streamRate, run: undefined };
}

function toPartsEntry(parts: PartAccounts, timeline: Timeline): PartsEntry {
  if (areNumbers(parts)) return parts;
  return parts.map((part): Exclude<PartsEntry, number[]>[number] => {
    const { identity, connections, departedMs } = part;
    const departed = departedMs === undefined ? null : timeline.fromMonotonic(departedMs);
    return [identity, ...toAccountEntry(part, timeline), connections, departed];
  });
}

function toPartAccounts(parts: PartsEntry, timeline: Timeline): PartAccounts {
  if (isNumbersEntry(parts)) return parts;
  return parts.map(([identity, base, accepted, hasGrown, rate, connections, departed]) => ({
    identity,
    ...toAccount([base, accepted, hasGrown, rate], timeline),
    connections,
    departedMs: departed === null ? undefined : timeline.toMonotonic(departed),
  }));
}

function isNumbersEntry(parts: PartsEntry): parts is number[] {
  return typeof parts[0] !== 'object';
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
    const { ledger, details, timeline } = this.#parts;
    const read = parseStateEntry(key, value);
    if (read === undefined || (read.kind === 'code') !== (this.#last === undefined)) return false;
    switch (read.kind) {
      case 'code':
        this.#restoreCode(read.entry);
        break;
      case 'counter':
        for (const [labels, total, updated] of read.entry)
          ledger.counters[read.counter].restore({
            labels,
            total,
            lastUpdatedMs: timeline.toMonotonic(updated),
          });
        break;
      case 'details':
        for (const [id, input, outputs] of read.entry) details?.restore(id, { input, outputs });
        break;
      case 'task':
        this.#accounts.push(this.#toTaskAccount(read.id, read.vsId, read.entry));
        break;
    }
    return true;
  }

  /** Completes the restoration after the last record; false if there was none. */
  finish(): boolean {
    // Those that left first come first.
    this.#accounts.sort((a, b) => a.lastSeen.monotonicMs - b.lastSeen.monotonicMs);
    for (const account of this.#accounts) this.#parts.ledger.restoreAccount(account);
    return this.#last !== undefined;
  }

  #restoreCode([lastMs, wallMs, listings, counts, sum, formats, servers]: CodeEntry): void {
    const { ledger, timeline, meteredFormats } = this.#parts;
    const gapMs = this.#now.wallMs - wallMs;
    const isGapKnown = gapMs > 0 && gapMs <= this.#maxGapMs;
    timeline.continueFrom(lastMs, isGapKnown ? gapMs : undefined, this.#now);
    this.#last = { monotonicMs: timeline.toMonotonic(lastMs), wallMs };
    this.#instants.set(lastMs, this.#last);
    ledger.restoreProgress(
      { listings, last: this.#last },
      { restoredMs: this.#now.monotonicMs, unknownGapMs: isGapKnown ? 0 : this.#maxGapMs },
    );
    ledger.lifetimes.restore({ counts, sum });
    for (const format of formats) meteredFormats.add(format);
    for (const [vsId, seenMs, seenWallMs] of servers)
      this.#parts.servers.restore(vsId, this.#getInstant(seenMs, seenWallMs));
  }

  #toTaskAccount(id: string, vsId: string, entry: TaskEntry): TaskAccount {
    const { timeline } = this.#parts;
    const [firstWallMs, firstMs, lastMs, activityMs, progress, source, inputBytes, unusualInput] = entry;
    const [, , , , , , , , beyondBases, flags, inputs, outputs] = entry;
    return {
      id,
      vsId,
      firstSeen: this.#getInstant(firstMs, firstWallMs),
      lastSeen: this.#getInstant(lastMs),
      lastActivity: this.#getInstant(activityMs),
      progress,
      inputSource: source === '' ? undefined : source,
      inputBytes,
      unusualInput: unusualInput === null ? undefined : toAccount(unusualInput, timeline),
      inputBytesBeyondBases: beyondBases,
      inputs: inputs === null ? undefined : toPartAccounts(inputs, timeline),
      outputs: toPartAccounts(outputs, timeline),
      flags,
    };
  }

  /** Only first listings are shown on the wall clock; the others are computed from the last one. */
  #getInstant(timeMs: number, wallMs?: number): Instant {
    const known = this.#instants.get(timeMs);
    if (known !== undefined) return known;
    const monotonicMs = this.#parts.timeline.toMonotonic(timeMs);
    const last = this.#last ?? this.#now;
    const instant = { monotonicMs, wallMs: wallMs ?? last.wallMs + monotonicMs - last.monotonicMs };
    this.#instants.set(timeMs, instant);
    return instant;
  }
}
