import {
  TableCellBackgroundDisplayMode,
  TableCellDisplayMode,
  TableCellHeight,
  TableSortByFieldStateBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  FieldColorModeId,
  type DynamicConfigValue,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as TablePanelBuilder } from '@grafana/grafana-foundation-sdk/table';
import { refIdOf, targetsOf, withText, type PanelText } from './panels.ts';
import type { thresholds } from './appearance.ts';

/** A column of values, one for each row. */
interface Column {
  readonly title: string;
  readonly expr: string;
  readonly unit: string;
  readonly mappings?: ValueMapping[];
  /** Colours the cell's background by these. */
  readonly thresholds?: ReturnType<typeof thresholds>;
  readonly width?: number;
}

/** A column that names the row: a label that every expression keeps. */
interface KeyColumn {
  readonly label: string;
  readonly title: string;
  /** Address that a click leads to. */
  readonly link?: { readonly title: string; readonly url: string };
  readonly width?: number;
}

export interface TableSpec {
  readonly keys: readonly KeyColumn[];
  readonly columns: readonly Column[];
  /** Title of the column that sorts, and which way. */
  readonly sortBy: readonly [title: string, direction: 'ascending' | 'descending'];
}

/** A row for each label set, a column for each expression, as of the end of the time range. */
export function table(text: PanelText, { keys, columns, sortBy }: TableSpec): TablePanelBuilder {
  const [sortTitle, direction] = sortBy;
  const lines = columns.map(({ expr, title }) => ({ expr, legend: title }));
  const panel = withText(new TablePanelBuilder(), text)
    .targets(targetsOf(lines, (query) => query.instant().format(PromQueryFormat.Table)))
    .cellHeight(TableCellHeight.Sm)
    .showHeader(true)
    .minWidth(80)
    .sortBy([new TableSortByFieldStateBuilder().displayName(sortTitle).desc(direction === 'descending')])
    // Every answer is a frame of its own, alike in time and labels: one row for each set of labels.
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({ id: 'organize', options: organization(keys, columns) });
  for (const key of keys) panel.overrideByName(key.title, keyProperties(key));
  for (const column of columns) panel.overrideByName(column.title, columnProperties(column));
  return panel;
}

function organization(keys: readonly KeyColumn[], columns: readonly Column[]) {
  const names = [
    ...keys.map(({ label, title }) => [label, title] as const),
    ...columns.map(({ title }, index) => [valueName(index, columns.length), title] as const),
  ];
  return {
    excludeByName: { Time: true },
    indexByName: Object.fromEntries(names.map(([name], index) => [name, index])),
    renameByName: Object.fromEntries(names),
  };
}

/** What Grafana calls the values of a target: of an only one, plainly so. */
function valueName(index: number, targets: number): string {
  return targets === 1 ? 'Value' : `Value #${refIdOf(index)}`;
}

function keyProperties({ link, width }: KeyColumn): DynamicConfigValue[] {
  return [
    ...(link === undefined ? [] : [{ id: 'links', value: [link] }]),
    ...(width === undefined ? [] : [{ id: 'custom.width', value: width }]),
  ];
}

function columnProperties(column: Column): DynamicConfigValue[] {
  const colored = column.thresholds ?? column.mappings;
  const background = {
    type: TableCellDisplayMode.ColorBackground,
    mode: TableCellBackgroundDisplayMode.Basic,
  };
  return [
    { id: 'unit', value: column.unit },
    // The text of the panel is for a table without rows; in a cell it would be too long.
    { id: 'noValue', value: '–' },
    { id: 'custom.align', value: 'right' },
    ...(column.width === undefined ? [] : [{ id: 'custom.width', value: column.width }]),
    ...(column.mappings === undefined ? [] : [{ id: 'mappings', value: column.mappings }]),
    ...(column.thresholds === undefined
      ? []
      : [
          { id: 'thresholds', value: column.thresholds.build() },
          { id: 'color', value: { mode: FieldColorModeId.Thresholds } },
        ]),
    ...(colored === undefined ? [] : [{ id: 'custom.cellOptions', value: background }]),
  ];
}
