import { REMEMBERED_MS } from '../../../src/tally/ledger/departed-accounts.ts';
import type { Direction, Entry, Metered, SimulatedTask } from './world.ts';

const DIRECTIONS: readonly Direction[] = ['input', 'output'];

/** Departed accounts may be forgotten soon: they are remembered for 6 hours. */
const SURELY_REMEMBERED_MS = 5 * 60 * 60 * 1000;

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
  /** `seen` at the last listing before something happened that the exporter cannot tell from something else. */
  doubtedFrom: number | undefined;
  /** Bytes that can have been invented since. */
  inventable: number;
  /** How much the service had forgotten at the last listing: another number means that it counts from elsewhere. */
  forgotten: number;
}

export interface AuditedTask {
  source: Entry['source'];
  seenMs: number;
  /** Listings in a row whose values were wrong. */
  wrongListings: number;
  /** Whether bytes of its inputs may be counted that no base shows: the next change of its source can lose some. */
  mayOwe: boolean;
  /** Counts that its accounts had when they began again: at half of each, one listing may add nothing. */
  formers: readonly { readonly least: number; readonly most: number }[];
  readonly accounts: readonly AuditedAccount[];
}

interface ListingTime {
  readonly nowMs: number;
  readonly intervalMs: number;
  /** Since the listing before, as the exporter may see it. */
  readonly sinceMs: number;
}

/**
 * What the counters of one service code must say: the bytes that its listings have shown. What docs/counters.md says
 * cannot be known is the only excuse. Until the next settlement,
 *
 * - bytes can be lost of an account that began again, returned to its former count, leapt, or had a new beginning in a time that the wall clock does not tell;
 *   that a listing showed at its last value once more, since what follows then comes too fast; whose task changes its source
 *   after an input began again or while one is missing;
 * - bytes can be invented only by a task or an account that is new to the exporter and is not new, or that counts on from where
 *   it was when the exporter does not know that: if a stream can have carried them since the listing before.
 *
 * All else must match to the byte: dips, absurd values, older answers, duplicates, other servers, participants that leave,
 * changed sources, equal identities, absence, failed polls, kills, lost writes.
 */
export class Audit {
  /** Whether a first listing has been taken. */
  isKnown = false;
  listedMs = 0;
  /** How wrong the wall clock was. */
  skewMs = 0;
  /** By how much the clock was set forward between the last listing and the start of a process that has not listed yet. */
  forwardMs = 0;
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
    copy.forwardMs = this.forwardMs;
    copy.isGapUnknown = this.isGapUnknown;
    copy.base = { ...this.base };
    for (const [task, audited] of this.tasks)
      copy.tasks.set(task, { ...audited, accounts: audited.accounts.map((account) => ({ ...account })) });
    return copy;
  }

  /** Takes a good listing. */
  list(entries: readonly Entry[], nowMs: number, skewMs: number, intervalMs: number): void {
    // A clock that was set forward makes the time between two processes look longer.
    const { forwardMs } = this;
    if (forwardMs > 0)
      for (const known of this.tasks.values()) {
        known.seenMs -= forwardMs;
        for (const account of known.accounts) if (account.seenMs !== undefined) account.seenMs -= forwardMs;
      }
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
    this.forwardMs = 0;
    this.isGapUnknown = false;
  }

  isDoubtful(task: SimulatedTask): boolean {
    const accounts = this.tasks.get(task)?.accounts;
    return (
      accounts === undefined ||
      !isResetListed(task, accounts) ||
      accounts.some(({ doubtedFrom }) => doubtedFrom !== undefined)
    );
  }

  /** A gap between two processes that the exporter cannot measure. */
  loseGap(): void {
    this.isGapUnknown = true;
    for (const { accounts } of this.tasks.values()) for (const account of accounts) doubt(account);
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

  #addTask({ task, source, values }: Entry, time: ListingTime): void {
    const isStartSeen = this.isKnown && !this.isGapUnknown && task.startedMs >= this.listedMs;
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
      return { ...account, seenMs, inventable: this.isKnown ? measureNew(account, value, time) : 0 };
    });
    this.tasks.set(task, {
      source,
      seenMs: time.nowMs,
      wrongListings: 0,
      mayOwe: false,
      formers: [],
      accounts,
    });
  }

  #continueTask(known: AuditedTask, entry: Entry, time: ListingTime): void {
    const { nowMs } = time;
    const { task, source, values, isTrue } = entry;
    known.wrongListings = isTrue ? 0 : known.wrongListings + 1;
    known.seenMs = nowMs;
    for (const [index, account] of known.accounts.entries()) {
      const value = values[index];
      const thing = task.metered[index];
      if (value === undefined || thing === undefined) continue;
      if (!isTrue) {
        const last = account.seen - account.forgotten;
        const isReturn = mayReturn(known, last, value);
        if (value === last || isReturn) doubt(account);
        // What follows begins again from the wrong value.
        if (isReturn) known.formers = [...known.formers, { least: value, most: value }];
      } else doubtChange(known, account, thing, value, time);
    }
    // Values that are judged together.
    if (known.accounts.some(({ doubtedFrom }) => doubtedFrom !== undefined)) known.accounts.forEach(doubt);
    const isChanged = source !== known.source;
    const isPartMissing =
      values.includes(undefined) || new Set(known.accounts.map(({ seenMs }) => seenMs)).size > 1;
    known.mayOwe ||= mayBeForgotten(known, nowMs) || known.formers.length > 0 || (isChanged && isPartMissing);
    for (const [index, account] of known.accounts.entries()) {
      if (mayBeForgotten({ accounts: [account] }, nowMs)) doubtNew(account, values[index], time);
      else if (isChanged && known.mayOwe) doubt(account);
    }
    known.source = source;
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

/** Whether an account of a task may be forgotten: what is listed next is a first value. */
export function mayBeForgotten({ accounts }: Pick<AuditedTask, 'accounts'>, nowMs: number): boolean {
  return accounts.some(({ seenMs = nowMs }) => nowMs - seenMs > SURELY_REMEMBERED_MS);
}

/**
 * Whether a value may be taken for a return to a former count: from half of it on. The exporter's is smaller where the last
 * values before the new beginning waited, or where outputs of one identity took turns.
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
  const streamBytes = (streamRate * Math.max(time.intervalMs, time.nowMs - (seenMs ?? time.nowMs))) / 1000;
  if (seenMs === undefined) {
    doubt(account);
    account.inventable += measureNew(account, value, time);
  } else if (thing.forgotten !== forgotten) {
    const most = seen - forgotten;
    const least = Math.max(0, (account.doubtedFrom ?? seen) - forgotten);
    // It may wait until the exporter was down for long enough that a stream can have carried it.
    if (value > most && value - most <= (2 * streamRate * REMEMBERED_MS) / 1000)
      account.inventable += value - most;
    known.formers = [...known.formers, { least, most }];
    doubt(account);
  } else if (mayReturn(known, seen - forgotten, value) || thing.carried - seen > streamBytes) doubt(account);
}

/** What a first value adds if a stream, and another one that came and went, can have carried it since the listing before. */
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
