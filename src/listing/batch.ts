import { recordOf } from '../families/record-of.ts';
import type { ColumnReader } from '../json-columns/column-reader.ts';
import { bitOf, type Fields, type RecordType } from '../json-columns/fields.ts';
import type { LabelValues } from '../json-columns/label-values.ts';
import type { AnyAmount, AnyLabelSource, CountOf, PartKind } from './label-group.ts';
import { MISSING_ID } from './label-values.ts';
import type { BatchNumbers, BatchValues, FamilyAmounts } from './row-table.ts';
import type { PictureSizes } from './picture-sizes.ts';
import { RECORD_KINDS, type ColumnsByRecord, type RecordKind, type TaskListTable } from './task-list.ts';

/** The columns of a batch, and what is derived from them: computed when it is first asked for in a batch. */
export class Batch {
  readonly columns: ColumnsByRecord;
  readonly #table: TaskListTable;
  readonly #labelValues: LabelValues;
  readonly #sizes: PictureSizes;
  /** The row of the task that each entry is in. */
  readonly #tasksOf: Readonly<Record<PartKind, BatchValues>>;
  readonly #derived = new Map<RecordKind, Map<AnyLabelSource, BatchValues>>();
  #number = 0;

  constructor(reader: ColumnReader, table: TaskListTable, labelValues: LabelValues, sizes: PictureSizes) {
    this.#table = table;
    this.#labelValues = labelValues;
    this.#sizes = sizes;
    this.columns = recordOf<ColumnsByRecord>(RECORD_KINDS, (kind) => reader.columnsOf<Fields>(table[kind]));
    const { task, output } = this.columns;
    const tasksOfOutputs = this.#derive('output', (to) => fillOwners(to, task.outputs.ends, task.rows));
    this.#tasksOf = {
      input: this.#derive('input', (to) => fillOwners(to, task.inputs.ends, task.rows)),
      output: tasksOfOutputs,
      stream: this.#derive('stream', (to) => {
        fillOwners(to, output.streams.ends, output.rows);
        gather(to, tasksOfOutputs(), to, this.columns.stream.rows);
      }),
    };
  }

  begin(): void {
    this.#number += 1;
  }

  labelsOf(kind: RecordKind, source: AnyLabelSource): BatchValues {
    const bound = this.#derived.get(kind) ?? new Map<AnyLabelSource, BatchValues>();
    this.#derived.set(kind, bound);
    const values = bound.get(source) ?? this.#bind(kind, source);
    bound.set(source, values);
    return values;
  }

  /** What the entries add to each family, except for those that the ledger adds up. */
  listAmounts(kind: RecordKind, amounts: Readonly<Record<string, AnyAmount>>): readonly FamilyAmounts[] {
    return Object.entries(amounts).flatMap(([family, amount]) =>
      amount === 'ledger' ? [] : [[family, this.#bindAmount(kind, amount)] as const],
    );
  }

  #bindAmount(kind: RecordKind, amount: Exclude<AnyAmount, 'ledger'>): 1 | BatchNumbers {
    if (amount === 1) return 1;
    if ('sumOf' in amount) return () => this.#numbers(kind, amount.sumOf);
    const fill = (to: Float64Array): void => this.#fillCounts(to, kind, amount);
    return this.#deriveIn(kind, (length) => new Float64Array(length), fill);
  }

  #bind(kind: RecordKind, source: AnyLabelSource): BatchValues {
    if (typeof source === 'string') return () => this.#labels(kind, source);
    if ('firstOf' in source) return this.#derive(kind, (to) => this.#fillFirst(to, kind, source.firstOf));
    if ('sizeOf' in source) return this.#derive(kind, (to) => this.#fillSizes(to, kind, source.sizeOf));
    if ('enumeration' in source)
      return this.#derive(kind, (to) => this.#fillNames(to, kind, source.enumeration, source.names));
    if (kind === 'user' || kind === 'task')
      throw new TypeError(`Expected an entry in a task, found a ${kind}`);
    const tasks = this.#tasksOf[kind];
    return this.#derive(kind, (to) => {
      gather(to, this.columns.task[source.ofTask], tasks(), this.columns[kind].rows);
    });
  }

  #derive(kind: RecordKind, fill: (to: Uint32Array) => void): BatchValues {
    return this.#deriveIn(kind, (length) => new Uint32Array(length), fill);
  }

  #deriveIn<Values extends Uint32Array | Float64Array>(
    kind: RecordKind,
    create: (length: number) => Values,
    fill: (to: Values) => void,
  ): () => Values {
    let values = create(64);
    let filledNumber = 0;
    return () => {
      if (filledNumber === this.#number) return values;
      filledNumber = this.#number;
      const { rows } = this.columns[kind];
      if (values.length < rows) values = create(2 * rows);
      fill(values);
      return values;
    };
  }

  #fillFirst(to: Uint32Array, kind: RecordKind, [first, second]: readonly [string, string]): void {
    const { rows, valid } = this.columns[kind];
    const type: RecordType = this.#table[kind];
    const bit = bitOf(type, first);
    const [a, b] = [this.#labels(kind, first), this.#labels(kind, second)];
    for (let at = 0; at < rows; at += 1) to[at] = (((valid[at] ?? 0) & bit) === 0 ? b[at] : a[at]) ?? 0;
  }

  #fillCounts(to: Float64Array, kind: RecordKind, { countOf, where }: CountOf<string>): void {
    const { rows } = this.columns[kind];
    const numbers = this.#numbers(kind, countOf);
    for (let at = 0; at < rows; at += 1) {
      const number = numbers[at] ?? Number.NaN;
      to[at] = (where === '=== 0' ? number === 0 : number > 0) ? 1 : 0;
    }
  }

  #fillSizes(to: Uint32Array, kind: RecordKind, [width, height]: readonly [string, string]): void {
    const { rows } = this.columns[kind];
    const [widths, heights] = [this.#labels(kind, width), this.#labels(kind, height)];
    for (let at = 0; at < rows; at += 1) to[at] = this.#sizes.find(widths[at] ?? 0, heights[at] ?? 0);
  }

  #fillNames(to: Uint32Array, kind: RecordKind, column: string, names: readonly string[]): void {
    const { rows } = this.columns[kind];
    const numbers = this.#numbers(kind, column);
    const ids = names.map((name) => this.#labelValues.getId(name));
    for (let at = 0; at < rows; at += 1) to[at] = ids[numbers[at] ?? -1] ?? MISSING_ID;
  }

  /** The types of label sources allow only columns that exist and hold labels. */
  #labels(kind: RecordKind, column: string): Uint32Array {
    const columns: Readonly<Record<string, unknown>> = this.columns[kind];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return columns[column] as Uint32Array;
  }

  #numbers(kind: RecordKind, column: string): Float64Array {
    const columns: Readonly<Record<string, unknown>> = this.columns[kind];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return columns[column] as Float64Array;
  }
}

/** Writes for each entry of lists the row of the entry that its list is in. */
function fillOwners(to: Uint32Array, ends: Uint32Array, rows: number): void {
  let at = 0;
  for (let row = 0; row < rows; row += 1) for (const end = ends[row] ?? 0; at < end; at += 1) to[at] = row;
}

function gather(to: Uint32Array, values: Uint32Array, rows: Uint32Array, count: number): void {
  for (let at = 0; at < count; at += 1) to[at] = values[rows[at] ?? 0] ?? 0;
}
