import type { LabelColumn, NumberColumn } from '../json-columns/fields.ts';
import type { LabelValues } from '../json-columns/label-values.ts';
import { MISSING_ID } from './label-values.ts';
import type { ColumnsByRecord, RecordKind } from './task-list.ts';

/*
 * What the labels of a label group come from: a column of its record, a column of the task that the record
 * is in, or a pure function of columns of its record. A name that is no such column is a type error.
 */

/** The records of one kind in a batch. The types of sources say that their columns exist. */
export interface RecordBatch {
  readonly rows: number;
  readonly valid: Uint32Array;
  readonly labelValues: LabelValues;
  readonly sizes: { find(width: number, height: number): number };
  readonly labels: (column: string) => Uint32Array;
  readonly numbers: (column: string) => Float64Array;
  readonly bitOf: (column: string) => number;
}

type NameOf<R extends RecordKind, Column> = {
  [N in keyof ColumnsByRecord[R]]: ColumnsByRecord[R][N] extends Column ? N : never;
}[keyof ColumnsByRecord[R]] &
  string;

export interface TaskLabel {
  readonly ofTask: NameOf<'task', LabelColumn>;
}

declare const NEEDS: unique symbol;

/** A label that is computed from columns. Those that it needs are part of its type. */
export interface ComputedLabel<Needs = unknown> {
  /** Writes the id of the label of each record. */
  readonly fill: (ids: Uint32Array, batch: RecordBatch) => void;
  readonly [NEEDS]?: Needs;
}

export type PartKind = 'input' | 'output' | 'stream';

export type LabelSource<R extends RecordKind> =
  | NameOf<R, LabelColumn>
  | (R extends PartKind ? TaskLabel : never)
  | ComputedLabel<{ readonly label: NameOf<R, LabelColumn> } | { readonly number: NameOf<R, NumberColumn> }>;

export type AnyLabelSource = string | TaskLabel | ComputedLabel;

/** The first of two labels that is present. */
export function firstOf<const N extends string>(first: N, second: N): ComputedLabel<{ readonly label: N }> {
  return {
    fill: (ids, batch) => {
      const { rows, valid } = batch;
      const bit = batch.bitOf(first);
      const [a, b] = [batch.labels(first), batch.labels(second)];
      for (let at = 0; at < rows; at += 1) ids[at] = (((valid[at] ?? 0) & bit) === 0 ? b[at] : a[at]) ?? 0;
    },
  };
}

/** The size of a picture; missing if its width or height is. */
export function sizeOf<const N extends string>(width: N, height: N): ComputedLabel<{ readonly label: N }> {
  return {
    fill: (ids, batch) => {
      const [widths, heights] = [batch.labels(width), batch.labels(height)];
      for (let at = 0; at < batch.rows; at += 1)
        ids[at] = batch.sizes.find(widths[at] ?? 0, heights[at] ?? 0);
    },
  };
}

/** The names of the values of an enumeration, from 0 on; others are missing. */
export function named<const N extends string>(
  column: N,
  names: readonly string[],
): ComputedLabel<{ readonly number: N }> {
  return {
    fill: (ids, batch) => {
      const numbers = batch.numbers(column);
      const nameIds = names.map((name) => batch.labelValues.getId(name));
      for (let at = 0; at < batch.rows; at += 1) ids[at] = nameIds[numbers[at] ?? -1] ?? MISSING_ID;
    },
  };
}
