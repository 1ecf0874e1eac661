import type { Rows } from '../../../src/listing/rows.ts';
import { REMEMBERED_MS } from '../../../src/tally/ledger/departed-accounts.ts';
import type { Counts } from '../../../src/tally/snapshot.ts';
import { BIRTH_MS } from './audit.ts';
import { SimulationError } from './checks.ts';
import type { Direction } from './world.ts';

type AllRows = Counts['rows'];
type Bytes = Record<Direction, number>;

const NOTHING: Bytes = { input: 0, output: 0 };
/** Listings to which a kill, a full disk or a loss of power can go back. */
const KEPT_LISTINGS = 50;

interface NameTruth extends Bytes {
  /** The first listing without an expectation of the name. */
  readonly removedMs: number | undefined;
  /** The listing that brought the counter, in this process; those of earlier ones are not new. */
  readonly newSinceMs: number;
}

interface ListingTruth {
  readonly names: ReadonlyMap<string, NameTruth>;
  readonly rows: AllRows | undefined;
}

/** A listing that was taken. */
export interface NamedListing {
  readonly listedMs: number;
  /** Time since the first listing, as the exporter knows it. */
  readonly elapsedMs: number;
  /** By the id of the task; its first entry has the name. */
  readonly names: ReadonlyMap<string, string | undefined>;
  readonly expected: readonly string[];
}

/**
 * What the counters of expected names of one service code must say: exactly what the counters of the tasks
 * gained which had the name in each listing, after the first one with the expectation. These are compared
 * with the counters of the code, whose truth is {@link Audit}.
 */
export class NameAudit {
  #last: ListingTruth = { names: new Map(), rows: undefined };
  readonly #history = new Map<number, ListingTruth>();

  /** Compares what is exposed after a listing with the truth. Returns the number of comparisons. */
  list(listing: NamedListing, rows: AllRows): number {
    this.#take(listing, rows);
    const { elapsedMs, expected } = listing;
    const isNew = (name: string): boolean =>
      elapsedMs - (this.#last.names.get(name)?.newSinceMs ?? elapsedMs) < BIRTH_MS;
    expectNew(rows, expected.filter(isNew));
    return expected.length + 2;
  }

  #take({ listedMs, elapsedMs, names, expected }: NamedListing, rows: AllRows): void {
    const gains = measureGains(this.#last.rows, rows);
    const next = new Map<string, NameTruth>();
    for (const [name, truth] of this.#last.names) {
      const { removedMs = elapsedMs } = truth;
      if (elapsedMs - removedMs <= REMEMBERED_MS) next.set(name, { ...truth, removedMs });
    }
    for (const name of expected) {
      const gained = sumBytes([...gains].flatMap(([id, bytes]) => (names.get(id) === name ? [bytes] : [])));
      const last = this.#last.names.get(name);
      const found = readName(rows, name);
      const counted = last === undefined || last.removedMs !== undefined ? NOTHING : gained;
      const { newSinceMs, ...total } = next.get(name) ?? { ...NOTHING, newSinceMs: elapsedMs };
      expectBytes(name, found, sumBytes([total, counted]));
      next.set(name, { ...found, removedMs: undefined, newSinceMs });
    }
    const total = sumBytes([...gains.values()]);
    expectBytes('all tasks', total, subtract(readTotal(rows), readTotal(this.#last.rows)));
    expectHidden(rows, expected);
    this.#last = { names: next, rows };
    this.#history.set(listedMs, this.#last);
    for (const oldest of [...this.#history.keys()].slice(0, -KEPT_LISTINGS)) this.#history.delete(oldest);
  }

  /** Counters that are restored are not new. */
  restore(): void {
    const names = Array.from(
      this.#last.names,
      ([name, truth]) => [name, { ...truth, newSinceMs: Number.NEGATIVE_INFINITY }] as const,
    );
    this.#last = { ...this.#last, names: new Map(names) };
  }

  /** Goes back to the listing that was written last, which may be one that was not exposed. */
  restart(last: NamedListing | undefined, rows: AllRows | undefined): void {
    const known =
      last === undefined ? { names: new Map(), rows: undefined } : this.#history.get(last.listedMs);
    if (known !== undefined) this.#last = known;
    if (last === undefined || rows === undefined) return;
    if (known === undefined) this.#take(last, rows);
    this.restore();
    for (const name of last.expected) {
      const truth = this.#last.names.get(name);
      if (truth !== undefined) expectBytes(name, readName(rows, name), truth);
    }
  }
}

/** Names that are not expected have no numbers. */
export function expectHidden(rows: AllRows, expected: readonly string[]): void {
  const { labelSets, columns }: Rows = rows.expectedNames;
  for (const [row, [name = '']] of labelSets.entries())
    if (!expected.includes(name) && Object.values(columns).some((column) => !Number.isNaN(column[row])))
      throw new SimulationError(`${name} is not expected and has a counter`);
}

/** Scrapes get the counters of new names at 0. */
function expectNew(
  { expectedNames: { labelSets, newRows = [] } }: AllRows,
  expected: readonly string[],
): void {
  const [found, truth] = [newRows.map((row) => labelSets[row]?.[0] ?? ''), expected].map((names) =>
    names.toSorted().join(' '),
  );
  if (found !== truth) throw new SimulationError(`Expected ${truth} as new names, found ${found}`);
}

/** What each task of a listing gained since the one before. A task that was not in that begins at 0. */
function measureGains(before: AllRows | undefined, after: AllRows): ReadonlyMap<string, Bytes> {
  const last = readTasks(before);
  return new Map(
    Array.from(readTasks(after), ([id, bytes]) => [id, subtract(bytes, last.get(id) ?? NOTHING)]),
  );
}

function readTasks(rows: AllRows | undefined): ReadonlyMap<string, Bytes> {
  const { singleTasks, taskFormats } = rows ?? {};
  const ids = singleTasks?.labelSets.map(([id = '']) => id) ?? [];
  return new Map(
    ids.map((id) => [
      id,
      {
        input: sumOf(singleTasks, 'taskInputBytes', id),
        output: sumOf(taskFormats, 'taskHttpOutputBytes', id),
      },
    ]),
  );
}

const readName = ({ expectedNames }: AllRows, name: string): Bytes => ({
  input: sumOf(expectedNames, 'expectedTaskInputBytes', name),
  output: sumOf(expectedNames, 'expectedTaskHttpOutputBytes', name),
});

const readTotal = (rows: AllRows | undefined): Bytes => ({
  input: sumOf(rows?.accounts, 'inputBytes'),
  output: sumOf(rows?.outputs, 'httpOutputBytes'),
});

/** The sum of a column, of rows with the first label if it is given. */
function sumOf(rows: Rows | undefined, family: string, first?: string): number {
  const { labelSets = [], columns = {} } = rows ?? {};
  return labelSets.reduce((sum, labels, row) => {
    const value = columns[family]?.[row] ?? 0;
    return Number.isNaN(value) || (first !== undefined && labels[0] !== first) ? sum : sum + value;
  }, 0);
}

const subtract = (a: Bytes, b: Bytes): Bytes => ({ input: a.input - b.input, output: a.output - b.output });

function sumBytes(all: readonly Bytes[]): Bytes {
  return all.reduce((a, b) => ({ input: a.input + b.input, output: a.output + b.output }), NOTHING);
}

const areEqual = (a: Bytes, b: Bytes): boolean => a.input === b.input && a.output === b.output;

function expectBytes(what: string, found: Bytes, expected: Bytes): void {
  if (areEqual(found, expected)) return;
  const [text, other] = [found, expected].map(({ input, output }) => `${input} in, ${output} out`);
  throw new SimulationError(`${what}: expected ${other}, found ${text}`);
}
