import type { Random } from '../random.ts';
import type { Audit, AuditedTask } from './audit.ts';
import { toEntry, type Entry, type SimulatedTask, type World } from './world.ts';

/** More than any link carries in the six hours for which accounts are remembered. */
const ABSURD_BYTES = 2e14;
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
  readonly entries: readonly Entry[];
  /** Entries that repeat a task with smaller values, before or after its own. */
  readonly repeated: readonly Entry[];
}

/** Creates the listings of one service code: the truth in quiet times, else what front ends make of it. */
export class ListingSource {
  readonly #world: World;
  readonly #random: Random;
  readonly #serviceCode: string;
  #history: Entry[][] = [];

  constructor(world: World, random: Random, serviceCode: string) {
    this.#world = world;
    this.#random = random;
    this.#serviceCode = serviceCode;
  }

  create(audit: Audit, isQuiet: boolean, note: (text: string) => void): Listing {
    const random = this.#random;
    const all = this.#world.listTasks(this.#serviceCode).map(toEntry);
    this.#history.push(all);
    this.#history = this.#history.slice(-1 - OLDER_LISTINGS);
    const listed = all.filter(({ task }) => task.hiddenFor === 0);
    if (isQuiet) return { entries: listed, repeated: [] };
    if (random.chance(0.02)) {
      note('empty');
      return { entries: [], repeated: [] };
    }
    if (random.chance(0.08)) return { entries: this.#lag(audit, note), repeated: [] };
    const entries = random.shuffle(listed).map((entry) => this.#distort(entry, audit, note));
    const repeated = entries.filter((entry) => entry.isTrue && random.chance(0.02));
    if (repeated.length > 0) note(`${repeated.length} twice`);
    return { entries, repeated: repeated.map((entry) => this.#shrink(entry)) };
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
      if (entry.task.isOver || known?.server !== entry.server || !this.#canBeWrong(entry.task, audit))
        return [];
      const bases = readBases(entry.task, known);
      const isOlder = entry.values.every((value, index) => value <= (bases[index] ?? 0));
      return isOlder ? [{ ...entry, isTrue: false }] : [];
    });
  }

  /** A dip, or a value that is absurd. */
  #distort(entry: Entry, audit: Audit, note: (text: string) => void): Entry {
    const random = this.#random;
    const known = audit.tasks.get(entry.task);
    if (!random.chance(0.03) || known?.server !== entry.server || !this.#canBeWrong(entry.task, audit))
      return entry;
    const [kind, toValue] = random.pick([
      ['zero', () => 0],
      ['dip', (base: number) => Math.floor(base * random.next())],
      ['absurd', () => Number.MAX_SAFE_INTEGER],
      ['leap', (base: number) => base + ABSURD_BYTES],
    ] as const);
    note(`${kind} of ${entry.task.id}`);
    const values = readBases(entry.task, known).map((base) => toValue(Math.max(0, base - 1)));
    return { ...entry, values, isTrue: false };
  }

  #shrink(entry: Entry): Entry {
    return { ...entry, values: entry.values.map((value) => Math.floor(value * this.#random.next())) };
  }

  /** Three listings in a row would be believed. */
  #canBeWrong(task: SimulatedTask, audit: Audit): boolean {
    const known = audit.tasks.get(task);
    return known !== undefined && known.wrongListings < MAX_WRONG_LISTINGS && !audit.isDoubtful(task);
  }
}

/** The values that the exporter accepted last. */
function readBases({ metered }: SimulatedTask, { accounts }: AuditedTask): number[] {
  return accounts.map(({ seen }, index) => seen - (metered[index]?.forgotten ?? 0));
}
