import type { LabelColumn, NumberColumn } from '../json-columns/fields.ts';
import type { ColumnsByRecord, RecordKind } from './task-list.ts';

/** Part of the help of several families, which the reference states once. */
export const HLS_NOTE = 'HLS (m3u8) is not metered by the service and is always 0.';
export const IN_LAST_LISTING = 'in the last listing';

interface TableFamily {
  readonly type: 'gauge' | 'counter' | 'info';
  readonly name: string;
  readonly help: string;
  /** Whether a gauge is 0 for an hour after its label set has left, so that a drop is visible. */
  readonly staysAtZero?: boolean;
  /** Whether a gauge is a time of the wall clock, in seconds since the Unix epoch. */
  readonly isTimestamp?: boolean;
}

/** A gauge of the last listing. */
export function gauge(name: string, help: string, note = '') {
  return { type: 'gauge', name, help: `${help}, ${IN_LAST_LISTING}${note === '' ? '.' : note}` } as const;
}

/** A {@link gauge} that is 0 for an hour after its label set has left, so that a drop is visible. */
export const stayingGauge = (name: string, help: string) =>
  ({ ...gauge(name, help, ', then 0 for an hour.'), staysAtZero: true }) as const;

/** A gauge of a time, which is no part of a listing. */
export const timestamp = (name: string, help: string) =>
  ({ type: 'gauge', name, help, isTimestamp: true }) as const;

export const counter = (name: string, help: string) => ({ type: 'counter', name, help }) as const;
export const info = (name: string, help: string) => ({ ...gauge(name, help), type: 'info' }) as const;

/**
 * The origin of the rows of a label group: the records of a kind; counts of the ledger and the tally
 * (`counted`); counts of the reader in a listing (`listed`); or the tally as a whole (`whole`), without
 * the limit of label sets; `expected_task` are those of the names in `expect`, and `single_task` those of
 * tasks that are shown one by one.
 */
type Origin = RecordKind | 'listed' | 'counted' | 'whole' | 'expected_task' | 'single_task';

/** Metrics with the same labels of the same record. */
export interface LabelGroup {
  readonly of: Origin;
  readonly labels: Readonly<Record<string, unknown>>;
  readonly families: Readonly<Record<string, TableFamily>>;
}

type NameOf<R extends RecordKind, Column> = {
  [N in keyof ColumnsByRecord[R]]: ColumnsByRecord[R][N] extends Column ? N : never;
}[keyof ColumnsByRecord[R]] &
  string;

/** The columns of its record that a label is computed from, by name. */
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

/** The columns that a label of a label group comes from. A name that is no such column is a type error. */
type LabelSource<R extends RecordKind> =
  OwnSource<NameOf<R, LabelColumn>, NameOf<R, NumberColumn>> | (R extends PartKind ? TaskLabel : never);

export type AnyLabelSource = OwnSource<string, string> | TaskLabel;

/** What an entry of a listing adds to a family of its row. */
type OwnAmount<NumberName extends string> =
  | 1
  /** A number of the entry, if it is present and above 0. */
  | { readonly sumOf: NumberName }
  | CountOf<NumberName>;

/**
 * 1 for each entry whose number is so, which a missing one is not. A function in place of two conditions
 * would take 2 % more of a listing of outputs.
 */
export interface CountOf<NumberName extends string> {
  readonly countOf: NumberName;
  readonly where: '=== 0' | '> 0';
}

export type AnyAmount = OwnAmount<string> | 'ledger';

/** The amount of each family. A listing has no increase of a byte count: the ledger adds up the counters. */
type Amounts<R extends RecordKind, Families> = {
  readonly [F in keyof Families]: Families[F] extends { readonly type: 'counter' }
    ? 'ledger'
    : OwnAmount<NameOf<R, NumberColumn>>;
};

const groupOf =
  <R extends RecordKind>(of: R) =>
  <
    const Labels extends Readonly<Record<string, LabelSource<R>>>,
    const Families extends LabelGroup['families'],
  >(
    labels: Labels,
    families: Families,
    amounts: Amounts<R, Families>,
  ) =>
    ({ of, labels, families, amounts }) as const;

export const user = groupOf('user');
export const task = groupOf('task');
export const input = groupOf('input');
export const output = groupOf('output');
export const stream = groupOf('stream');

/** Defines label groups whose label values are found as texts. */
const textGroupOf =
  <Of extends Exclude<Origin, RecordKind>>(of: Of) =>
  <const Label extends string, const Families extends LabelGroup['families']>(
    labels: readonly Label[],
    families: Families,
  ) => {
    // `Object.fromEntries` has no types for these keys.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const byName = Object.fromEntries(labels.map((label) => [label, true])) as Readonly<Record<Label, true>>;
    return { of, labels: byName, families } as const;
  };

export const listed = textGroupOf('listed');
export const counted = textGroupOf('counted');
export const whole = textGroupOf('whole');
export const expectedTask = textGroupOf('expected_task');
export const singleTask = textGroupOf('single_task');
