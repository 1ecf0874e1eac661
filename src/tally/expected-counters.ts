import { EXPECTED_GROUPS, type ExpectedGroupName } from '../listing/label-groups.ts';
import { OTHER, UNKNOWN, type LabelSet } from '../listing/label-values.ts';
import type { OutputReading, TaskReading } from '../listing/listing.ts';
import { placeOf, recordOf, TextRows, type Rows, type RowsOf } from '../listing/rows.ts';
import type { Instant } from './instant.ts';
import { ABSENCE_MS } from './label-set-limit.ts';
import { REMEMBERED_MS } from './ledger/departed-accounts.ts';

/** Names with counters, expected and removed ones. */
const MAX_NAMES = 1000;
const MAX_FORMATS = 8;

const FORMAT = placeOf('outputs', 'format');

interface NameCounters {
  /** When the first listing without an expectation of the name was taken. */
  removedMs?: number | undefined;
  /** `undefined` before the first valid input bytes. */
  inputBytes?: number | undefined;
  readonly formats: Map<string, FormatCounters>;
  isListed: boolean;
  /** Accounts whose last value waits; `undefined` before the first one. */
  waiting?: number | undefined;
}

interface FormatCounters {
  outputBytes: number;
  connections: number;
  seenMs: number;
}

type PersistedCounters = readonly [
  name: string,
  counters: Pick<NameCounters, 'removedMs' | 'inputBytes'> & {
    readonly formats: [format: string, counters: FormatCounters][];
  },
];

/** The counters of expected names: they outlive tasks, and for a while the expectation. */
export class ExpectedCounters {
  readonly #counters = new Map<string, NameCounters>();
  #expected: ReadonlySet<string> = new Set();
  #outputLabels: readonly LabelSet[] = [];
  #nowMs = 0;

  /** Prepares for a listing, before the ledger takes it. */
  beginCommit(
    names: readonly string[],
    outputLabels: readonly LabelSet[],
    { monotonicMs: nowMs }: Instant,
  ): void {
    this.#expected = new Set(names);
    this.#outputLabels = outputLabels;
    this.#nowMs = nowMs;
    for (const [name, counters] of this.#counters) {
      if (nowMs - (counters.removedMs ?? nowMs) > REMEMBERED_MS) this.#counters.delete(name);
      counters.removedMs = this.#expected.has(name) ? undefined : (counters.removedMs ?? nowMs);
      counters.isListed = false;
      if (counters.waiting !== undefined) counters.waiting = 0;
      for (const format of counters.formats.values()) format.connections = 0;
    }
  }

  /** Adds what a listed task gained; `undefined` if the listing has no valid value. */
  addInput({ name }: TaskReading, bytes: number | undefined): void {
    const counters = this.#find(name);
    if (counters === undefined) return;
    counters.isListed = true;
    if (bytes !== undefined) counters.inputBytes = (counters.inputBytes ?? 0) + bytes;
  }

  addOutput({ name }: TaskReading, { outputRow, connections }: OutputReading, bytes: number): void {
    const counters = this.#find(name);
    if (counters === undefined) return;
    const format = findFormat(counters, this.#outputLabels[outputRow]?.[FORMAT] ?? UNKNOWN);
    format.outputBytes += bytes;
    format.connections += connections;
    format.seenMs = this.#nowMs;
  }

  addWaiting({ name }: TaskReading, count: number): void {
    const counters = this.#find(name);
    if (counters !== undefined) counters.waiting = (counters.waiting ?? 0) + count;
  }

  get(name: string): Pick<NameCounters, 'inputBytes' | 'waiting'> | undefined {
    return this.#counters.get(name);
  }

  /** The rows of all names that are remembered: they hold no numbers of names that are not expected. */
  collect(names: readonly string[]): RowsOf<ExpectedGroupName> {
    const expectedInputs = new TextRows('expectedInputs');
    const expectedFormats = new TextRows('expectedFormats');
    for (const [name, { inputBytes, formats, isListed }] of this.#counters) {
      if (inputBytes !== undefined) expectedInputs.count('expectedTaskInputBytes', inputBytes, name);
      for (const [format, { outputBytes, connections, seenMs }] of formats) {
        const row = expectedFormats.find(name, format);
        expectedFormats.add(row, 'expectedTaskHttpOutputBytes', outputBytes);
        if (isListed && this.#nowMs - seenMs <= ABSENCE_MS)
          expectedFormats.add(row, 'expectedTaskHttpConnections', connections);
      }
    }
    return hideUnexpected({ rows: { expectedInputs, expectedFormats } }, names).rows;
  }

  *exportCounters(): Generator<PersistedCounters, void> {
    for (const [name, { removedMs, inputBytes, formats }] of this.#counters)
      yield [name, { removedMs, inputBytes, formats: [...formats] }];
  }

  restore(persisted: readonly PersistedCounters[]): void {
    for (const [name, { formats, ...counters }] of persisted)
      this.#counters.set(name, { ...counters, formats: new Map(formats), isListed: false });
  }

  #find(name: string | undefined): NameCounters | undefined {
    if (name === undefined || !this.#expected.has(name)) return undefined;
    const found = this.#counters.get(name);
    if (found !== undefined) return found;
    if (this.#counters.size >= MAX_NAMES) this.#forgetLongestRemoved();
    const counters: NameCounters = { formats: new Map(), isListed: false };
    this.#counters.set(name, counters);
    return counters;
  }

  #forgetLongestRemoved(): void {
    let longest: string | undefined;
    let sinceMs = Number.POSITIVE_INFINITY;
    for (const [name, { removedMs = sinceMs }] of this.#counters)
      if (removedMs < sinceMs) [longest, sinceMs] = [name, removedMs];
    if (longest !== undefined) this.#counters.delete(longest);
  }
}

/** Formats are told apart in the order in which they appear. */
function findFormat({ formats }: NameCounters, format: string): FormatCounters {
  const key = formats.has(format) || formats.size < MAX_FORMATS ? format : OTHER;
  const found = formats.get(key) ?? { outputBytes: 0, connections: 0, seenMs: 0 };
  formats.set(key, found);
  return found;
}

/** Hides the numbers of unexpected names. Their label sets stay: a name that comes back is not new. */
export function hideUnexpected<AllCounts extends { readonly rows: RowsOf<ExpectedGroupName> }>(
  counts: AllCounts,
  expectedNames: readonly string[],
): AllCounts {
  const expected = new Set(expectedNames);
  const isExpected = (labels: LabelSet = []): boolean => expected.has(labels[0] ?? '');
  const isHidden = ({ labelSets, columns }: Rows): boolean =>
    Object.values(columns).every((column) =>
      column.every((value, row) => Number.isNaN(value) || isExpected(labelSets[row])),
    );
  const { rows } = counts;
  if (EXPECTED_GROUPS.every((group) => isHidden(rows[group]))) return counts;
  const hide = ({ labelSets, columns }: Rows): Rows => ({
    labelSets,
    columns: recordOf(Object.keys(columns), (family) =>
      (columns[family] ?? []).map((value, row) => (isExpected(labelSets[row]) ? value : Number.NaN)),
    ),
  });
  const hidden = recordOf(EXPECTED_GROUPS, (group) => hide(rows[group]));
  return { ...counts, rows: { ...rows, ...hidden } };
}
