import type { Instant } from '../../../src/runtime/instant.ts';
import { REMEMBERED_MS } from '../../../src/tally/ledger/departed-accounts.ts';
import type { Direction, Entry, Metered, SimulatedTask } from './world.ts';

const DIRECTIONS: readonly Direction[] = ['input', 'output'];

/** Departed accounts may be forgotten soon: they are remembered for 6 hours. */
const SURELY_REMEMBERED_MS = 5 * 60 * 60 * 1000;
/** The listings of two failed polls do not hide the start of a run. */
const MAX_SEEN_INTERVALS = 3.5;
/** A new counter is at 0 in listings that are less than so much younger than its first one. */
export const BIRTH_MS = 90_000;
/** The age of a base, a restart after an unknown gap, and a clock set forward, of 6 hours each, add up. */
const MAX_BELIEVED_MS = 3 * REMEMBERED_MS;

/** What a counter may have of one input or output. */
export interface AuditedAccount {
  readonly direction: Direction;
  readonly streamRate: number;
  /** When a listing showed its true value; `undefined` before the first. */
  seenMs: number | undefined;
  /** Bytes carried when counting began: they must not count. */
  origin: number;
  /** Bytes carried at the last listing that showed them: they must count. */
  seen: number;
  /**
   * `seen` at the last listing before something happened that the exporter cannot tell from something else.
   */
  doubtedFrom: number | undefined;
  /** Bytes that can have been invented since. */
  inventable: number;
  /**
   * How much the service had forgotten at the last listing: another number means that it counts from
   * elsewhere.
   */
  forgotten: number;
}

export interface AuditedTask {
  /** `undefined` before a listing has a value of an input. */
  source: Entry['source'] | undefined;
  /** Listings in a row whose values were wrong. */
  wrongListings: number;
  /** Counts that its accounts had when they began again: at half of each, one listing may add nothing. */
  formers: readonly { readonly least: number; readonly most: number }[];
  readonly accounts: readonly AuditedAccount[];
}

/** The run of a task that the last listing has. */
interface AuditedRun {
  readonly server: string;
  readonly firstMs: number;
  readonly hasLifetime: boolean;
}

interface ListingTime {
  readonly nowMs: number;
  readonly intervalMs: number;
  /** What the wall clock says besides: the process was suspended, or the clock was set. */
  readonly suspendedMs: number;
  /** Since the listing before, as the exporter may see it. */
  readonly sinceMs: number;
}

/**
 * What the counters of one service code must say: the bytes that its listings have shown. What
 * docs/counters.md says cannot be known is the only excuse. Until the next settlement,
 *
 * - bytes can be lost of an account that began again, returned to its former count, leapt, or had a new
 *   beginning in a time that the wall clock does not tell; that a listing showed at its last value once more,
 *   since what follows then comes too fast;
 * - bytes can be invented only by a task or an account that is new to the exporter and is not new, or that
 *   counts on from where it was when the exporter does not know that: if a stream can have carried them since
 *   the listing before.
 *
 * All else must match to the byte: dips, absurd values, older answers, duplicates, other servers,
 * participants that leave, changed sources, equal identities, absence, failed polls, suspensions, kills, lost
 * writes. Starts, ends and lifetimes are always exact. Times are those of the exporter's clocks.
 */
export class Audit {
  /** The last good listing; `undefined` before the first. */
  last: Instant | undefined;
  /** Its true time. */
  listedMs = 0;
  /** Time between good listings, as the exporter knows it. */
  elapsedMs = 0;
  /** Whether the last listing was taken by an earlier process. */
  isRestored = false;
  /** Whether the time since the last listing is unknown to the exporter. */
  isGapUnknown = false;
  tasks = new Map<SimulatedTask, AuditedTask>();
  runs = new Map<SimulatedTask, AuditedRun>();
  started = new Map<string, number>();
  ended = new Map<string, number>();
  lifetimes = { count: 0, seconds: 0 };
  /** When each server was first listed. */
  born = new Map<string, number>();
  /** What the counters were at the last settlement. */
  base: Record<Direction, number> = { input: 0, output: 0 };

  copy(): Audit {
    const tasks = Array.from(this.tasks, ([task, audited]) => {
      const accounts = audited.accounts.map((account) => ({ ...account }));
      return [task, { ...audited, accounts }] as const;
    });
    return Object.assign(new Audit(), {
      ...this,
      tasks: new Map(tasks),
      runs: new Map(this.runs),
      started: new Map(this.started),
      ended: new Map(this.ended),
      lifetimes: { ...this.lifetimes },
      born: new Map(this.born),
      base: { ...this.base },
    });
  }

  /** Goes on with the clocks of another process. */
  restart({ wallMs, monotonicMs }: Instant): void {
    if (this.last === undefined) return;
    const gapMs = wallMs - this.last.wallMs;
    const isGapKnown = gapMs > 0 && gapMs <= REMEMBERED_MS;
    const lastMs = monotonicMs - (isGapKnown ? gapMs : 0);
    const shiftMs = lastMs - this.last.monotonicMs;
    this.last = { wallMs: this.last.wallMs, monotonicMs: lastMs };
    this.isRestored = true;
    for (const [task, run] of this.runs) this.runs.set(task, { ...run, firstMs: run.firstMs + shiftMs });
    for (const server of this.born.keys()) this.born.set(server, Number.NEGATIVE_INFINITY);
    for (const { accounts } of this.tasks.values())
      for (const account of accounts) if (account.seenMs !== undefined) account.seenMs += shiftMs;
    this.isGapUnknown = !isGapKnown;
    if (isGapKnown) return;
    for (const { accounts } of this.tasks.values()) accounts.forEach(doubt);
  }

  /** Takes a good listing. */
  list(entries: readonly Entry[], at: Instant, listedMs: number, intervalMs: number): void {
    const suspendedMs = this.measureSuspendedMs(at);
    const sinceMs = Math.max(intervalMs, at.monotonicMs - (this.last?.monotonicMs ?? 0) + suspendedMs);
    const time = { nowMs: at.monotonicMs, intervalMs, suspendedMs, sinceMs };
    this.#listRuns(entries, at.monotonicMs, intervalMs);
    for (const entry of entries) {
      const known = this.tasks.get(entry.task);
      if (known === undefined) this.#addTask(entry, time);
      else this.#continueTask(known, entry, time);
    }
    this.elapsedMs += at.monotonicMs - (this.last ?? at).monotonicMs;
    this.last = at;
    this.listedMs = listedMs;
    this.isRestored = false;
    this.isGapUnknown = false;
  }

  /** By how much the wall clock advanced further than the monotonic one, within one process. */
  measureSuspendedMs({ wallMs, monotonicMs }: Instant): number {
    if (this.last === undefined || this.isRestored) return 0;
    const passedMs = Math.min(wallMs - this.last.wallMs, REMEMBERED_MS);
    return Math.max(0, passedMs - (monotonicMs - this.last.monotonicMs));
  }

  /** Servers of which counters are still at 0. */
  get newServers(): readonly string[] {
    const { monotonicMs: nowMs = 0 } = this.last ?? {};
    return [...this.born].flatMap(([server, newSinceMs]) => (nowMs - newSinceMs < BIRTH_MS ? [server] : []));
  }

  isDoubtful(task: SimulatedTask): boolean {
    const accounts = this.tasks.get(task)?.accounts;
    return (
      accounts === undefined ||
      !isResetListed(task, accounts) ||
      accounts.some(({ doubtedFrom }) => doubtedFrom !== undefined)
    );
  }

  /** The least and the most that a counter may be. */
  bound(direction: Direction): { readonly least: number; readonly most: number } {
    let exact = this.base[direction];
    let lost = 0;
    let invented = 0;
    for (const { accounts } of this.tasks.values())
      for (const account of accounts) {
        if (account.direction !== direction) continue;
        exact += account.seen - account.origin;
        lost += account.seen - (account.doubtedFrom ?? account.seen);
        invented += account.inventable;
      }
    return { least: exact - lost, most: exact + invented };
  }

  /** After a quiet time the exporter knows every account again: from now on growth is exact. */
  settle(totals: Readonly<Record<Direction, number>>): void {
    this.base = { ...totals };
    for (const [task, { accounts }] of this.tasks) {
      if (task.isOver) this.tasks.delete(task);
      for (const account of accounts) {
        account.origin = account.seen;
        account.doubtedFrom = undefined;
        account.inventable = 0;
      }
    }
  }

  /** Starts and ends are what two listings in a row show. */
  #listRuns(entries: readonly Entry[], nowMs: number, intervalMs: number): void {
    const { last, runs } = this;
    const isSeen = last !== undefined && nowMs - last.monotonicMs <= MAX_SEEN_INTERVALS * intervalMs;
    const hasLifetime = isSeen && !this.isGapUnknown;
    this.runs = new Map();
    for (const { task, server } of entries) {
      const run = runs.get(task);
      if (!this.born.has(server)) this.born.set(server, nowMs);
      if (last !== undefined && run?.server !== server) increment(this.started, server);
      if (run !== undefined && run.server !== server) increment(this.ended, run.server);
      const begun = { firstMs: nowMs, hasLifetime: hasLifetime && !task.isFile };
      this.runs.set(task, { ...(run ?? begun), server });
    }
    for (const [task, { server, firstMs, hasLifetime: isObserved }] of runs) {
      if (this.runs.has(task)) continue;
      increment(this.ended, server);
      if (!isObserved) continue;
      this.lifetimes.count += 1;
      this.lifetimes.seconds += Math.round(((last?.monotonicMs ?? 0) - firstMs) / 1000);
    }
  }

  #addTask(entry: Entry, time: ListingTime): void {
    const { task, source, values } = entry;
    const isStartSeen = this.last !== undefined && !this.isGapUnknown && task.startedMs >= this.listedMs;
    const accounts = task.metered.map((thing, index): AuditedAccount => {
      const { direction, streamRate, carried, forgotten } = thing;
      const account = {
        direction,
        streamRate,
        seenMs: undefined,
        origin: carried,
        seen: carried,
        doubtedFrom: undefined,
        inventable: 0,
        forgotten,
      };
      const value = values[index];
      if (value === undefined) return account;
      const seenMs = time.nowMs;
      if (isStartSeen) {
        const isLeap = value > (streamRate * time.sinceMs) / 1000;
        return { ...account, seenMs, origin: forgotten, doubtedFrom: isLeap ? forgotten : undefined };
      }
      return {
        ...account,
        seenMs,
        inventable: this.last === undefined ? 0 : measureNew(account, value, time),
      };
    });
    const isSourceSeen = hasInputValue(entry);
    this.tasks.set(task, {
      source: isSourceSeen ? source : undefined,
      wrongListings: 0,
      formers: [],
      accounts,
    });
  }

  #continueTask(known: AuditedTask, entry: Entry, time: ListingTime): void {
    const { nowMs } = time;
    const { task, source, values, isTrue } = entry;
    known.wrongListings = isTrue ? 0 : known.wrongListings + 1;
    const isSourceSeen = hasInputValue(entry);
    const isChanged = isSourceSeen && known.source !== undefined && known.source !== source;
    doubtSum(known, entry);
    for (const [index, account] of known.accounts.entries()) {
      const value = values[index];
      const thing = task.metered[index];
      if (thing === undefined) continue;
      const isForgotten = mayBeForgotten({ accounts: [account] }, nowMs);
      if (isForgotten) doubtNew(account, value, time);
      if (isChanged && account.direction === 'input' && !isForgotten)
        changeSource(account, thing, value, nowMs);
      else if (value === undefined) continue;
      else if (isTrue) doubtChange(known, account, thing, value, time);
      else {
        const last = account.seen - account.forgotten;
        const isReturn = mayReturn(known, last, value);
        if (value === last || isReturn) doubt(account);
        // What follows begins again from the wrong value.
        if (isReturn) known.formers = [...known.formers, { least: value, most: value }];
      }
    }
    // Values that are judged together.
    if (known.accounts.some(({ doubtedFrom }) => doubtedFrom !== undefined)) known.accounts.forEach(doubt);
    if (isSourceSeen) known.source = source;
    if (!isTrue) return;
    for (const [index, account] of known.accounts.entries()) {
      const thing = task.metered[index];
      if (values[index] === undefined || thing === undefined) continue;
      account.seen = thing.carried;
      account.forgotten = thing.forgotten;
      account.seenMs = nowMs;
    }
  }
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function hasInputValue({ task: { metered }, values }: Entry): boolean {
  return metered.some(({ direction }, index) => direction === 'input' && values[index] !== undefined);
}

/**
 * The accounts of the source that a task leaves end; those of the new one open at values that do not count.
 */
function changeSource(
  account: AuditedAccount,
  thing: Metered,
  value: number | undefined,
  nowMs: number,
): void {
  account.seenMs = undefined;
  if (value === undefined) return;
  const skipped = thing.carried - account.seen;
  account.origin += skipped;
  if (account.doubtedFrom !== undefined) account.doubtedFrom += skipped;
  account.seen = thing.carried;
  account.seenMs = nowMs;
}

/** Whether an account of a task may be forgotten: what is listed next is a first value. */
export function mayBeForgotten({ accounts }: Pick<AuditedTask, 'accounts'>, nowMs: number): boolean {
  return accounts.some(({ seenMs = nowMs }) => nowMs - seenMs > SURELY_REMEMBERED_MS);
}

/**
 * Whether a value may be taken for a return to a former count: from half of it on. The exporter's is smaller
 * where the last values before the new beginning waited, or where outputs of one identity took turns.
 */
function mayReturn({ formers }: AuditedTask, last: number, value: number): boolean {
  return formers.some(({ least, most }) => last < 0.55 * most && value >= 0.3 * least);
}

/** What an account carries from here on may be lost. */
function doubt(account: AuditedAccount): void {
  account.doubtedFrom ??= account.seen;
}

/** An account may be opened again with a value. */
function doubtNew(account: AuditedAccount, value: number | undefined, time: ListingTime): void {
  doubt(account);
  if (value === undefined) account.seenMs = undefined;
  else account.inventable += measureNew(account, value, time);
}

/** A true value that does not simply continue the last one. */
function doubtChange(
  known: AuditedTask,
  account: AuditedAccount,
  thing: Metered,
  value: number,
  time: ListingTime,
): void {
  const { seenMs, seen, forgotten, streamRate } = account;
  const ageMs = time.nowMs - (seenMs ?? time.nowMs) + time.suspendedMs;
  const streamBytes = (streamRate * Math.max(time.intervalMs, ageMs)) / 1000;
  if (seenMs === undefined) {
    doubt(account);
    account.inventable += measureNew(account, value, time);
  } else if (thing.forgotten !== forgotten) {
    const most = seen - forgotten;
    const least = Math.max(0, (account.doubtedFrom ?? seen) - forgotten);
    // It may wait until the exporter believes that a stream can have carried it.
    if (value > most && value - most <= (2 * streamRate * MAX_BELIEVED_MS) / 1000)
      account.inventable += value - most;
    known.formers = [...known.formers, { least, most }];
    doubt(account);
  } else if (mayReturn(known, seen - forgotten, value) || thing.carried - seen > streamBytes) doubt(account);
}

/** Inputs that a task tells as one count begin again, and return, as one. */
function doubtSum(known: AuditedTask, { task: { metered }, source, values, isTrue }: Entry): void {
  const inputs = known.accounts.filter(({ direction }) => direction === 'input');
  if (source !== 'task' || known.source !== source || inputs.length < 2) return;
  const most = sumOf(inputs.map(({ seen, forgotten }) => seen - forgotten));
  const value = sumOf(inputs.map((_, index) => values[index] ?? 0));
  if (isTrue && inputs.some(({ forgotten }, index) => metered[index]?.forgotten !== forgotten)) {
    const doubted = inputs.map(({ seen, doubtedFrom = seen, forgotten }) =>
      Math.max(0, doubtedFrom - forgotten),
    );
    known.formers = [...known.formers, { least: sumOf(doubted), most }];
  } else if (mayReturn(known, most, value)) {
    inputs.forEach(doubt);
    if (!isTrue) known.formers = [...known.formers, { least: value, most: value }];
  }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

/** What a first value adds if two streams can have carried it since the listing before. */
function measureNew({ streamRate }: AuditedAccount, bytes: number, { sinceMs }: ListingTime): number {
  return bytes <= (2 * streamRate * sinceMs) / 1000 ? bytes : 0;
}

/** Whether a task has carried more than a stream since a listing showed it. */
export function isLeaping({ metered }: SimulatedTask, { accounts }: AuditedTask, nowMs: number): boolean {
  return accounts.some(({ seen, seenMs = nowMs, streamRate }, index) => {
    const grownBytes = (metered[index]?.carried ?? seen) - seen;
    return grownBytes > (streamRate * (nowMs - seenMs)) / 1000;
  });
}

/** Whether a listing has shown that the service has begun to count again, if it has. */
export function isResetListed({ metered }: SimulatedTask, accounts: AuditedTask['accounts']): boolean {
  return accounts.every(({ forgotten }, index) => metered[index]?.forgotten === forgotten);
}

/** Describes what is wrong with the totals; `undefined` if they are within the bounds. */
export function compareTotals(audit: Audit, totals: Readonly<Record<Direction, number>>): string | undefined {
  for (const direction of DIRECTIONS) {
    const { least, most } = audit.bound(direction);
    const total = totals[direction];
    if (total < least || total > most)
      return `${direction}: expected ${least} to ${most}, found ${total} (${total < least ? total - least : `+${total - most}`})`;
  }
  return undefined;
}
