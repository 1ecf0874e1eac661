import type { Instant } from '../../../src/runtime/instant.ts';
import type { Random } from '../random.ts';
import { isLeaping, mayBeForgotten, type Audit, type AuditedAccount, type AuditedTask } from './audit.ts';
import { hasEqualParts, NAMES, toEntry, type Entry, type SimulatedTask, type World } from './world.ts';

/** More than twice what any link carries in the six hours for which accounts are remembered. */
const ABSURD_BYTES = 1e15;
/** Leaps that a link can carry. */
const MIN_LEAP_BYTES = 2e9;
const MAX_LEAP_BYTES = 75e9;
const MAX_INTERVAL_MS = 300_000;
const MAX_WRONG_LISTINGS = 2;
const OLDER_LISTINGS = 2;

/** Bodies that are no listing. */
const BROKEN_BODIES = [
  '',
  '{"ret":0,"user_list":[',
  '{"ret":0,"user_list":[]}',
  '{"ret":7}',
  '[]',
  '<html>502</html>',
];

export interface Listing {
  /** What the exporter must make of the listing: the first entry of each task. */
  readonly entries: readonly Entry[];
  /** The entries as they are listed: some repeat a task with anything. */
  readonly listed: readonly Entry[];
}

/** Creates the listings of one service code: the truth in quiet times, else what front ends make of it. */
export class ListingSource {
  readonly #world: World;
  readonly #random: Random;
  readonly #serviceCode: string;
  #history: Entry[][] = [];
  #now = { ms: 0, suspendedMs: 0 };
  /** The wrong values of the last listing. */
  #wrong: ReadonlyMap<SimulatedTask, Entry> = new Map();

  constructor(world: World, random: Random, serviceCode: string) {
    this.#world = world;
    this.#random = random;
    this.#serviceCode = serviceCode;
  }

  /** Creates what is listed at a time of the exporter's clocks. */
  create(audit: Audit, at: Instant, isQuiet: boolean, note: (text: string) => void): Listing {
    const random = this.#random;
    this.#now = { ms: at.monotonicMs, suspendedMs: audit.measureSuspendedMs(at) };
    const all = this.#world.listTasks(this.#serviceCode).map(toEntry);
    this.#history.push(all);
    this.#history = this.#history.slice(-1 - OLDER_LISTINGS);
    const listed = all.filter(({ task }) => task.hiddenFor === 0);
    if (isQuiet) this.#wrong = new Map();
    if (isQuiet) return { entries: listed, listed };
    if (random.chance(0.02)) {
      note('empty');
      return { entries: [], listed: [] };
    }
    if (random.chance(0.08)) {
      const older = this.#lag(audit, note);
      return { entries: older, listed: older };
    }
    const entries = random.shuffle(listed).map((entry) => this.#distort(entry, audit, note));
    this.#wrong = new Map(entries.filter(({ isTrue }) => !isTrue).map((entry) => [entry.task, entry]));
    const repeated = entries.filter(() => random.chance(0.02)).map((entry) => this.#repeat(entry));
    if (repeated.length > 0) note(`${repeated.length} twice`);
    return { entries, listed: [...entries, ...repeated] };
  }

  /** A body that must fail the poll. */
  breakBody(body: string): string {
    const cut = 1 + this.#random.integer(body.length - 1);
    return this.#random.chance(0.5) ? body.slice(0, cut) : this.#random.pick(BROKEN_BODIES);
  }

  /** The answer of a front end that lags behind. */
  #lag(audit: Audit, note: (text: string) => void): Entry[] {
    note('older answer');
    return (this.#history[0] ?? []).flatMap((entry) => {
      const known = audit.tasks.get(entry.task);
      if (entry.task.isOver || known === undefined || hasEqualParts(entry.task)) return [];
      if (!this.#canBeWrong(entry, audit)) return [];
      const bases = readBases(entry.task, known);
      const isOlder = entry.values.every((value = 0, index) => value <= (bases[index] ?? 0));
      return isOlder ? [{ ...entry, isTrue: false }] : [];
    });
  }

  /** A dip, a leap, or a value that is absurd. */
  #distort(entry: Entry, audit: Audit, note: (text: string) => void): Entry {
    const random = this.#random;
    const { task } = entry;
    const known = audit.tasks.get(task);
    const last = this.#wrong.get(task);
    const isAgain = last !== undefined && random.chance(0.5);
    if (!isAgain && !random.chance(0.03)) return entry;
    if (known === undefined || !this.#canBeWrong(entry, audit)) return entry;
    if (isAgain && this.#canContinue(last, known)) {
      note(`${task.id} once more`);
      return { ...last, values: last.values.map((value) => value && value + random.integer(1000)) };
    }
    const leapBytes = MIN_LEAP_BYTES + random.integer(MAX_LEAP_BYTES - MIN_LEAP_BYTES);
    const isLeap =
      !task.hasLeapt &&
      !hasEqualParts(task) &&
      known.accounts.every((account) => leapBytes > this.#measureGrowth(account));
    const [kind, toValue] = random.pick([
      ['zero', () => 0],
      ['dip', (base: number) => (hasEqualParts(task) ? 0 : Math.floor(base * random.next()))],
      ['leap', (base: number) => base + (isLeap ? leapBytes : ABSURD_BYTES)],
      ['absurd', () => Number.MAX_SAFE_INTEGER],
      ['absurd leap', (base: number) => base + ABSURD_BYTES],
    ] as const);
    note(`${kind} of ${task.id}`);
    const bases = readBases(task, known);
    const values = entry.values.map((value, index) =>
      value === undefined ? undefined : toValue(Math.max(0, (bases[index] ?? 0) - 1)),
    );
    return { ...entry, values, isTrue: false };
  }

  /** Whether wrong values can grow and still be no growth of what is true. */
  #canContinue({ task, values }: Entry, known: AuditedTask): boolean {
    const bases = readBases(task, known);
    const isWrong = known.accounts.every((account, index) => {
      const growth = (values[index] ?? 0) - (bases[index] ?? 0);
      return growth < -1000 || growth > this.#measureGrowth(account);
    });
    return isWrong && !hasEqualParts(task) && !values.includes(Number.MAX_SAFE_INTEGER);
  }

  /** More than a stream, and another one that came and went, can have carried. */
  #measureGrowth({ streamRate, seenMs = this.#now.ms }: AuditedAccount): number {
    const ageMs = this.#now.ms - seenMs + this.#now.suspendedMs;
    return (3 * streamRate * Math.max(MAX_INTERVAL_MS, ageMs)) / 1000;
  }

  /** A further entry of a task, with values that are smaller, larger or missing. */
  #repeat({ task, values }: Entry): Entry {
    const random = this.#random;
    return {
      task,
      server: random.pick(this.#world.servers),
      source: random.pick(['task', 'inputs']),
      name: random.pick(NAMES),
      values: values.map((value = 0) => random.pick([undefined, Math.floor(2 * value * random.next())])),
      isTrue: false,
    };
  }

  /** Three listings in a row would be believed, and so would a first value. */
  #canBeWrong({ task, source, values }: Entry, audit: Audit): boolean {
    const known = audit.tasks.get(task);
    if (known?.source !== source) return false;
    const nowMs = this.#now.ms;
    if (audit.isDoubtful(task) || isLeaping(task, known, nowMs) || mayBeForgotten(known, nowMs)) return false;
    const areKnown = known.accounts.every(
      ({ seenMs }, index) => seenMs !== undefined || values[index] === undefined,
    );
    return areKnown && known.wrongListings < MAX_WRONG_LISTINGS;
  }
}

/** The values that the exporter accepted last. */
function readBases({ metered }: SimulatedTask, { accounts }: AuditedTask): number[] {
  return accounts.map(({ seen }, index) => seen - (metered[index]?.forgotten ?? 0));
}
