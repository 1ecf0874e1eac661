import type { ColumnReader } from '../json-columns/column-reader.ts';
import { bitOf, type Fields, type RecordType } from '../json-columns/fields.ts';
import type { LabelValues } from '../json-columns/label-values.ts';
import { recordByKey } from './label-group.ts';
import type { AnyLabelSource, PartKind, RecordBatch } from './label-sources.ts';
import type { BatchValues } from './row-table.ts';
import type { PictureSizes } from './picture-sizes.ts';
import { recordOf } from './rows.ts';
import { RECORD_KINDS, type ColumnsByRecord, type RecordKind, type TaskListTable } from './task-list.ts';

/** The columns of a batch, and what is derived from them: computed when it is first asked for in a batch. */
export class Batch {
  readonly columns: ColumnsByRecord;
  /** The row of the task that each record is in. */
  readonly tasksOf: Readonly<Record<PartKind, BatchValues>>;
  readonly #records: Readonly<Record<RecordKind, RecordBatch>>;
  readonly #derived = new Map<RecordKind, Map<AnyLabelSource, BatchValues>>();
  #number = 0;

  constructor(reader: ColumnReader, table: TaskListTable, labelValues: LabelValues, sizes: PictureSizes) {
    const columnsOf = (kind: RecordKind) => reader.columnsOf<Fields>(table[kind]);
    this.columns = recordByKey<ColumnsByRecord>(RECORD_KINDS, columnsOf);
    this.#records = recordOf(RECORD_KINDS, (kind) =>
      createRecordBatch(columnsOf(kind), table[kind], labelValues, sizes),
    );
    const { task, output } = this.columns;
    const tasksOfOutputs = this.#derive('output', (to) => fillOwners(to, task.outputs.ends, task.rows));
    this.tasksOf = {
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

  #bind(kind: RecordKind, source: AnyLabelSource): BatchValues {
    const records = this.#records[kind];
    if (typeof source === 'string') return () => records.labels(source);
    if ('fill' in source) return this.#derive(kind, (to) => source.fill(to, records));
    if (kind === 'user' || kind === 'task')
      throw new TypeError(`Expected a record in a task, found a ${kind}`);
    const tasks = this.tasksOf[kind];
    return this.#derive(kind, (to) => gather(to, this.columns.task[source.ofTask], tasks(), records.rows));
  }

  #derive(kind: RecordKind, fill: (to: Uint32Array) => void): BatchValues {
    let values = new Uint32Array(64);
    let filledNumber = 0;
    return () => {
      if (filledNumber === this.#number) return values;
      filledNumber = this.#number;
      const { rows } = this.columns[kind];
      if (values.length < rows) values = new Uint32Array(2 * rows);
      fill(values);
      return values;
    };
  }
}

function createRecordBatch(
  columns: { readonly rows: number; readonly valid: Uint32Array } & Readonly<Record<string, unknown>>,
  type: RecordType,
  labelValues: LabelValues,
  sizes: PictureSizes,
): RecordBatch {
  return {
    get rows() {
      return columns.rows;
    },
    get valid() {
      return columns.valid;
    },
    labelValues,
    sizes,
    // The types of label sources say that the columns exist, and which hold labels.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    labels: (column) => columns[column] as Uint32Array,
    // As above.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    numbers: (column) => columns[column] as Float64Array,
    bitOf: (column) => bitOf(type, column),
  };
}

/** Writes for each entry of lists the row of the record that its list is in. */
function fillOwners(to: Uint32Array, ends: Uint32Array, rows: number): void {
  let at = 0;
  for (let row = 0; row < rows; row += 1) for (const end = ends[row] ?? 0; at < end; at += 1) to[at] = row;
}

function gather(to: Uint32Array, values: Uint32Array, rows: Uint32Array, count: number): void {
  for (let at = 0; at < count; at += 1) to[at] = values[rows[at] ?? 0] ?? 0;
}
