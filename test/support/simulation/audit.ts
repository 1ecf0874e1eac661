import { STREAM_RATE, type Direction, type Entry, type SimulatedTask } from './world.ts';

const DIRECTIONS: readonly Direction[] = ['input', 'output'];

/** Departed accounts may be forgotten soon: `ledger.remember_tasks_for` is 6 hours. */
const SURELY_REMEMBERED_MS = 5 * 60 * 60 * 1000;

/** What a counter may have of one input or output. */
interface AuditedAccount {
  readonly direction: Direction;
  /** Bytes carried when counting began: they must not count. */
  origin: number;
  /** Bytes carried at the last listing that showed them: they must count. */
  seen: number;
  /** `seen` at the last listing before something happened that METRICS.md cannot tell from something else. */
  doubtedFrom: number | undefined;
  /** Bytes that can have been invented since. */
  inventable: number;
  /** How much the service had forgotten at the last listing: more means that it has begun again. */
  forgotten: number;
}

export interface AuditedTask {
  server: string;
  seenMs: number;
  /** Listings in a row whose values were wrong. */
  wrongListings: number;
  readonly accounts: readonly AuditedAccount[];
}

interface ListingTime {
  readonly nowMs: number;
  readonly intervalMs: number;
  /** Since the listing before, as the exporter may see it. */
  readonly sinceMs: number;
}

/**
 * What the counters of one service code must say. They must equal the bytes that its listings have shown, within the sum of what
 * METRICS.md section 3 says cannot be known:
 *
 * - a task that was left out of the listings around its start: up to what a stream carries between two listings can be invented;
 * - a reset and a wrong clock over a restart: each can invent one interval of a stream and lose all that the account carries
 *   until the next settlement; an account that may be forgotten also all that a stream can have carried since the listing before;
 * - an older answer that repeats the last value: what was carried before it comes too fast and has to be confirmed, and a task that
 *   moves meanwhile may be taken for a new one, which can invent what a stream carries between two listings;
 * - what is not here must match to the byte: dips, absurd values, older answers, duplicates, moves, absence, failed polls,
 *   kills, lost writes.
 */
export class Audit {
  /** Whether a first listing has been taken. */
  isKnown = false;
  listedMs = 0;
  /** How wrong the wall clock was. */
  skewMs = 0;
  /** Whether the time since the last listing is unknown to the exporter. */
  isGapUnknown = false;
  tasks = new Map<SimulatedTask, AuditedTask>();
  /** What the counters were at the last settlement. */
  base: Record<Direction, number> = { input: 0, output: 0 };

  copy(): Audit {
    const copy = new Audit();
    copy.isKnown = this.isKnown;
    copy.listedMs = this.listedMs;
    copy.skewMs = this.skewMs;
    copy.isGapUnknown = this.isGapUnknown;
    copy.base = { ...this.base };
    for (const [task, audited] of this.tasks)
      copy.tasks.set(task, { ...audited, accounts: audited.accounts.map((account) => ({ ...account })) });
    return copy;
  }

  /** Takes a good listing. */
  list(entries: readonly Entry[], nowMs: number, skewMs: number, intervalMs: number): void {
    // A clock that was set forward makes the time between two processes look longer.
    const forwardMs = Math.max(0, skewMs - this.skewMs);
    if (forwardMs > 0) for (const known of this.tasks.values()) known.seenMs -= forwardMs;
    const elapsedMs = nowMs - this.listedMs + forwardMs;
    const time = { nowMs, intervalMs, sinceMs: Math.max(intervalMs, elapsedMs) };
    for (const entry of entries) {
      const known = this.tasks.get(entry.task);
      if (known === undefined) this.#addTask(entry, time);
      else this.#continueTask(known, entry, time);
    }
    this.isKnown = true;
    this.listedMs = nowMs;
    this.skewMs = skewMs;
    this.isGapUnknown = false;
  }

  /** Something happened to a task that the exporter cannot tell from something else. */
  #doubt(task: SimulatedTask, intervalMs: number): void {
    for (const account of this.tasks.get(task)?.accounts ?? []) {
      account.doubtedFrom ??= account.seen;
      account.inventable += (STREAM_RATE * intervalMs) / 1000;
    }
  }

  isDoubtful(task: SimulatedTask): boolean {
    const accounts = this.tasks.get(task)?.accounts;
    return (
      accounts === undefined ||
      hasBegunAgain(task, accounts) ||
      accounts.some(({ doubtedFrom }) => doubtedFrom !== undefined)
    );
  }

  /** A gap between two processes that the exporter cannot measure. */
  loseGap(intervalMs: number): void {
    this.isGapUnknown = true;
    for (const task of this.tasks.keys()) this.#doubt(task, intervalMs);
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

  /** A task may be taken for a new one: then all that it says can count. */
  #doubtNew({ accounts }: AuditedTask, { task, values }: Entry, time: ListingTime): void {
    this.#doubt(task, time.intervalMs);
    for (const [index, account] of accounts.entries())
      if (canBeNew(values[index] ?? 0, time.sinceMs)) account.inventable += values[index] ?? 0;
  }

  #addTask({ task, server }: Entry, { nowMs, sinceMs }: ListingTime): void {
    const isStartSeen = this.isKnown && !this.isGapUnknown && task.startedMs >= this.listedMs;
    const accounts = task.metered.map(({ direction, carried, forgotten }): AuditedAccount => {
      const value = carried - forgotten;
      const canCount = this.isKnown && canBeNew(value, sinceMs);
      const inventable = canCount && !isStartSeen ? value : 0;
      const origin = isStartSeen ? forgotten : carried;
      return { direction, origin, seen: carried, doubtedFrom: undefined, inventable, forgotten };
    });
    this.tasks.set(task, { server, seenMs: nowMs, wrongListings: 0, accounts });
  }

  #continueTask(known: AuditedTask, entry: Entry, time: ListingTime): void {
    const { nowMs, intervalMs } = time;
    const { task, server, values, isTrue } = entry;
    const isForgotten = nowMs - known.seenMs > SURELY_REMEMBERED_MS;
    const isMoveDoubtful = server !== known.server && this.isDoubtful(task);
    if (isForgotten || isMoveDoubtful) this.#doubtNew(known, entry, time);
    known.server = server;
    known.seenMs = nowMs;
    known.wrongListings = isTrue ? 0 : known.wrongListings + 1;
    if (!isTrue) {
      for (const [index, account] of known.accounts.entries())
        if (values[index] === account.seen - account.forgotten) account.doubtedFrom ??= account.seen;
      return;
    }
    if (hasBegunAgain(task, known.accounts)) this.#doubt(task, intervalMs);
    for (const [index, account] of known.accounts.entries()) {
      const { carried, forgotten } = task.metered[index] ?? { carried: account.seen, forgotten: 0 };
      account.seen = carried;
      account.forgotten = forgotten;
    }
  }
}

/** Whether a stream, and another one that came and went, can have carried a value since the listing before. */
function canBeNew(bytes: number, sinceMs: number): boolean {
  return bytes <= (2 * STREAM_RATE * sinceMs) / 1000;
}

/** Whether the service has begun to count again since the last listing that showed a task. */
export function hasBegunAgain({ metered }: SimulatedTask, accounts: AuditedTask['accounts']): boolean {
  return accounts.some(({ forgotten }, index) => metered[index]?.forgotten !== forgotten);
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
