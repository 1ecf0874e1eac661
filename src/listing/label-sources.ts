import type { LabelColumn, NumberColumn } from '../json-columns/fields.ts';
import type { ColumnsByRecord, RecordKind } from './task-list.ts';

type NameOf<R extends RecordKind, Column> = {
  [N in keyof ColumnsByRecord[R]]: ColumnsByRecord[R][N] extends Column ? N : never;
}[keyof ColumnsByRecord[R]] &
  string;

/** What a label is computed from, by the names of columns of its record. */
type OwnSource<LabelName extends string, NumberName extends string> =
  | LabelName
  /** The first of two labels that is present. */
  | { readonly firstOf: readonly [LabelName, LabelName] }
  /** The size of a picture; missing if its width or height is. */
  | { readonly sizeOf: readonly [width: LabelName, height: LabelName] }
  /** The names of the values of an enumeration, from 0 on; others are missing. */
  | { readonly enumeration: NumberName; readonly names: readonly string[] };

/** A label of the task that a record is in. */
export interface TaskLabel {
  readonly ofTask: NameOf<'task', LabelColumn>;
}

export type PartKind = 'input' | 'output' | 'stream';

/** What a label of a label group comes from. A name that is no such column is a type error. */
export type LabelSource<R extends RecordKind> =
  OwnSource<NameOf<R, LabelColumn>, NameOf<R, NumberColumn>> | (R extends PartKind ? TaskLabel : never);

export type AnyLabelSource = OwnSource<string, string> | TaskLabel;
