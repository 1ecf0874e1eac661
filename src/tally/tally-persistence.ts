import type { SeriesSelection } from './counter-family.ts';
import { LEDGER_COUNTERS } from './family-keys.ts';
import type { Instant } from './instant.ts';
import type { Ledger } from './ledger/ledger.ts';
import { NUMBERS_PER_DEPARTED_PART } from './ledger/part-accounts.ts';
import type { RareAccounts, TaskAccount } from './ledger/task-account.ts';
import type { RecentServers } from './recent-servers.ts';
import type { StateEntry, StateEntryOf } from './state-entry.ts';
import type { PersistedTaskDetail, TaskDetails } from './task-details.ts';

/** The parts of a tally that are persisted. Slots of gauges are not: the next listing assigns them. */
export interface TallyParts {
  readonly serviceCode: string;
  readonly ledger: Ledger;
  readonly servers: RecentServers;
  readonly details: TaskDetails | undefined;
  readonly meteredFormats: Set<string>;
}

/** The entries of a tally, `code` first; none before its first good listing. */
export function* exportEntries(tally: TallyParts): Generator<StateEntry, void> {
  const { serviceCode, ledger, servers, details, meteredFormats } = tally;
  const { progress } = ledger;
  if (progress === undefined) return;
  const { last, listings } = progress;
  yield ['code', serviceCode, last.wallMs, listings];
  yield* exportTotals(ledger);
  yield ['metered', [...meteredFormats]];
  const instants = new InstantTable(last);
  for (const [vsId, seen] of servers.entries) {
    yield* instants.addIfNew(seen);
    yield ['server', vsId, instants.getIndex(seen)];
  }
  for (const account of ledger.listAccounts()) yield* exportAccount(account, instants, last);
  for (const detail of details?.exportDetails('all') ?? []) yield ['detail', ...toDetailTuple(detail)];
}

function toDetailTuple([id, { input, outputs }]: readonly [
  string,
  PersistedTaskDetail,
]): StateEntryOf<'totals'>[7][number] {
  return [id, input, [...outputs].map(([format, total]): [string, number] => [format, total])];
}

/** The published totals of a tally: all, or those that the last commit changed. `undefined` before its first good listing. */
export function exportPublishedTotals(
  { serviceCode, ledger, details }: TallyParts,
  selection: SeriesSelection,
): StateEntryOf<'totals'> | undefined {
  const { progress } = ledger;
  if (progress === undefined) return undefined;
  const { last, listings } = progress;
  const series = LEDGER_COUNTERS.flatMap((counter) =>
    [...ledger.counters[counter].exportSeries(selection)].map((one): StateEntryOf<'totals'>[4][number] => [
      counter,
      [...one.labels],
      one.total,
    ]),
  );
  const { counts, sum } = ledger.persistedLifetimes;
  const taskDetails = [...(details?.exportDetails(selection) ?? [])].map(toDetailTuple);
  return ['totals', serviceCode, last.wallMs, listings, series, [...counts], sum, taskDetails];
}

/** The totals of all counters of a ledger, and its lifetimes. */
export function* exportTotals(ledger: Ledger): Generator<StateEntry, void> {
  const { progress } = ledger;
  if (progress === undefined) return;
  for (const counter of LEDGER_COUNTERS) {
    for (const series of ledger.counters[counter].exportSeries()) {
      const idleMs = progress.last.monotonicMs - series.lastUpdatedMs;
      yield ['counter', counter, [...series.labels], series.total, idleMs];
    }
  }
  const { counts, sum } = ledger.persistedLifetimes;
  yield ['lifetimes', [...counts], sum];
}

function* exportAccount(
  account: TaskAccount,
  instants: InstantTable,
  last: Instant,
): Generator<StateEntry, void> {
  const { firstSeen, lastSeen, lastActivity, rare } = account;
  for (const seen of [firstSeen, lastSeen, lastActivity]) yield* instants.addIfNew(seen);
  yield [
    'task',
    account.id,
    account.vsId,
    instants.getIndex(firstSeen),
    instants.getIndex(lastSeen),
    instants.getIndex(lastActivity),
    account.progress,
    account.inputSource ?? '',
    account.inputBytes,
    account.accountedInputBytes,
    account.flags,
    account.outputs,
  ];
  if (rare === undefined) return;
  const toAges = (departed: readonly number[]) => mirrorTimes(departed, last.monotonicMs);
  yield ['rare', rare.inputs, toAges(rare.departedInputs), toAges(rare.departedOutputs)];
}

/** Departed parts with ages instead of monotonic times, or the reverse. */
function mirrorTimes(departed: readonly number[], lastMs: number): number[] {
  const isTime = (index: number) => index % NUMBERS_PER_DEPARTED_PART === NUMBERS_PER_DEPARTED_PART - 1;
  return departed.map((value, index) => (isTime(index) ? lastMs - value : value));
}

/** Numbers the instants that tasks and servers share: as many as listings, not as tasks. */
class InstantTable {
  readonly #last: Instant;
  readonly #indexes: Map<Instant, number>;

  constructor(last: Instant) {
    this.#last = last;
    this.#indexes = new Map([[last, 0]]);
  }

  getIndex(instant: Instant): number {
    return this.#indexes.get(instant) ?? 0;
  }

  /** The entry of an instant that had none yet. */
  *addIfNew(instant: Instant): Generator<StateEntry, void> {
    if (this.#indexes.has(instant)) return;
    this.#indexes.set(instant, this.#indexes.size);
    yield ['instant', instant.wallMs, this.#last.monotonicMs - instant.monotonicMs];
  }
}

/** Restores the state of a tally, entry by entry. */
export class TallyRestorer {
  readonly #parts: TallyParts;
  readonly #now: Instant;
  /** The last good listing, on the monotonic clock of this process, then those of `instant` entries. */
  readonly #instants: Instant[] = [];
  #lastAccount: TaskAccount | undefined;

  constructor(parts: TallyParts, now: Instant) {
    this.#parts = parts;
    this.#now = now;
  }

  /** Takes the next entry; false if it does not fit those before it. */
  apply(entry: StateEntry): boolean {
    const { ledger, details, meteredFormats } = this.#parts;
    switch (entry[0]) {
      case 'code':
        return this.#restoreCode(entry);
      case 'counter': {
        const [, counter, labels, total, idleMs] = entry;
        const lastUpdatedMs = this.#lastMs - idleMs;
        ledger.counters[counter].restore({ labels, total, lastUpdatedMs });
        return true;
      }
      case 'lifetimes':
        ledger.restoreLifetimes({ counts: entry[1], sum: entry[2] });
        return true;
      case 'metered':
        for (const format of entry[1]) meteredFormats.add(format);
        return true;
      case 'instant':
        this.#instants.push({ wallMs: entry[1], monotonicMs: this.#lastMs - entry[2] });
        return true;
      case 'server':
        return this.#restoreServer(entry[1], this.#instants[entry[2]]);
      case 'task':
        return this.#restoreTask(entry);
      case 'rare':
        return this.#restoreRareAccounts(entry);
      case 'detail': {
        const [, id, input, outputs] = entry;
        details?.restore(id, { input, outputs });
        return true;
      }
      case 'totals':
        return this.#advance(entry);
    }
  }

  /** Totals of a listing that the restored state already includes are ignored. */
  #advance(entry: StateEntryOf<'totals'>): boolean {
    const [, serviceCode, wallMs, listings, series, counts, sum, taskDetails] = entry;
    const { ledger, details } = this.#parts;
    if (serviceCode !== this.#parts.serviceCode) return false;
    if (listings <= ledger.listings) return true;
    ledger.advanceListings(listings);
    const lastUpdatedMs = this.#toMonotonicMs(wallMs);
    for (const [counter, labels, total] of series) {
      ledger.counters[counter].advance({ labels, total, lastUpdatedMs });
    }
    ledger.advanceLifetimes({ counts, sum });
    for (const [id, input, outputs] of taskDetails) details?.advance(id, { input, outputs });
    return true;
  }

  #toMonotonicMs(wallMs: number): number {
    return this.#now.monotonicMs - Math.max(0, this.#now.wallMs - wallMs);
  }

  get #lastMs(): number {
    return this.#instants[0]?.monotonicMs ?? this.#now.monotonicMs;
  }

  /** The wall clock measures the time between the processes only, and may have been set back. */
  #restoreCode([, serviceCode, wallMs, listings]: StateEntryOf<'code'>): boolean {
    const { ledger } = this.#parts;
    if (serviceCode !== this.#parts.serviceCode || ledger.progress !== undefined) return false;
    const last = { wallMs, monotonicMs: this.#toMonotonicMs(wallMs) };
    this.#instants.push(last);
    ledger.restoreProgress({ listings, last });
    return true;
  }

  #restoreServer(vsId: string, seen: Instant | undefined): boolean {
    if (seen !== undefined) this.#parts.servers.restore(vsId, seen);
    return seen !== undefined;
  }

  #restoreTask(entry: StateEntryOf<'task'>): boolean {
    const [, id, vsId, first, last, activity, progress, source, inputBytes, accountedInputBytes, flags] =
      entry;
    const [firstSeen, lastSeen, lastActivity] = [first, last, activity].map((index) => this.#instants[index]);
    if (firstSeen === undefined || lastSeen === undefined || lastActivity === undefined) return false;
    if (this.#parts.ledger.getTask({ id, vsId }) !== undefined) return false;
    this.#lastAccount = {
      id,
      vsId,
      firstSeen,
      lastSeen,
      lastActivity,
      progress,
      inputSource: source === '' ? undefined : source,
      inputBytes,
      accountedInputBytes,
      outputs: entry[11],
      rare: undefined,
      flags,
    };
    this.#parts.ledger.restoreAccount(this.#lastAccount);
    return true;
  }

  #restoreRareAccounts([, inputs, departedInputs, departedOutputs]: StateEntryOf<'rare'>): boolean {
    if (this.#lastAccount === undefined) return false;
    const toTimes = (departed: readonly number[]) => mirrorTimes(departed, this.#lastMs);
    const rare: RareAccounts = {
      inputs,
      departedInputs: toTimes(departedInputs),
      departedOutputs: toTimes(departedOutputs),
    };
    this.#parts.ledger.restoreRareAccounts(this.#lastAccount, rare);
    this.#lastAccount = undefined;
    return true;
  }
}
