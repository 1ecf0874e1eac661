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
import { linksOfCell } from './links.ts';
import { formatRefId, createTargets, withText, type PanelText } from './panels.ts';
import { thresholds } from './appearance.ts';

interface Column {
  readonly title: string;
  readonly expr: string;
  readonly unit: string;
  readonly mappings?: ValueMapping[];
  /** Colour the background of the cells. */
  readonly thresholds?: ReturnType<typeof thresholds>;
  readonly width?: number;
}

/** A label column; every expression keeps this label. */
interface KeyColumn {
  readonly label: string;
  readonly title: string;
  readonly width?: number;
}

export interface TableSpec {
  readonly keys: readonly KeyColumn[];
  readonly columns: readonly Column[];
  /** Title of the column to sort by, and the direction. */
  readonly sortBy: readonly [title: string, direction: 'ascending' | 'descending'];
}

/** A row for each label set and a column for each expression, at the end of the time range. */
export function table(text: PanelText, { keys, columns, sortBy }: TableSpec): TablePanelBuilder {
  const [sortTitle, direction] = sortBy;
  const lines = columns.map(({ expr, title }) => ({ expr, legend: title }));
  const panel = withText(new TablePanelBuilder(), text)
    .targets(createTargets(lines, (query) => query.instant().format(PromQueryFormat.Table)))
    .cellHeight(TableCellHeight.Sm)
    .showHeader(true)
    .minWidth(80)
    .sortBy([new TableSortByFieldStateBuilder().displayName(sortTitle).desc(direction === 'descending')])
    // Each target returns a frame with the same times and labels: merge them into one row for each label set.
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({ id: 'organize', options: createOrganizeOptions(keys, columns) });
  for (const key of keys) panel.overrideByName(key.title, keyProperties(key));
  for (const column of columns) panel.overrideByName(column.title, columnProperties(column));
  return panel;
}

function createOrganizeOptions(keys: readonly KeyColumn[], columns: readonly Column[]) {
  const names = [
    ...keys.map(({ label, title }) => [label, title] as const),
    ...columns.map(({ title }, index) => [formatValueName(index, columns.length), title] as const),
  ];
  return {
    excludeByName: { Time: true },
    indexByName: Object.fromEntries(names.map(([name], index) => [name, index])),
    renameByName: Object.fromEntries(names),
  };
}

/** The name that Grafana gives the value column of a target. */
function formatValueName(index: number, targets: number): string {
  return targets === 1 ? 'Value' : `Value #${formatRefId(index)}`;
}

/** The `noValue` of the panel is for a table without rows; it would be wrong in a cell. */
const NO_CELL_VALUE = { id: 'noValue', value: '–' };

function keyProperties({ label, width }: KeyColumn): DynamicConfigValue[] {
  const links = linksOfCell(label);
  return [
    NO_CELL_VALUE,
    ...(links.length === 0 ? [] : [{ id: 'links', value: links }]),
    ...(width === undefined ? [] : [{ id: 'custom.width', value: width }]),
  ];
}

/** "610 milliseconds" needs it. */
const DURATION_WIDTH = 136;

function columnProperties({ title, unit, mappings, width, ...column }: Column): DynamicConfigValue[] {
  // A cell without a value would have the base colour, which is green by default.
  const steps = column.thresholds ?? (mappings && thresholds('transparent'));
  const columnWidth = width ?? (unit === 'dtdurations' ? DURATION_WIDTH : undefined);
  const headerWidth = Math.max(80, 24 + 7 * title.length);
  const background = {
    type: TableCellDisplayMode.ColorBackground,
    mode: TableCellBackgroundDisplayMode.Basic,
  };
  return [
    { id: 'unit', value: unit },
    NO_CELL_VALUE,
    { id: 'custom.align', value: 'right' },
    columnWidth === undefined
      ? { id: 'custom.minWidth', value: headerWidth }
      : { id: 'custom.width', value: columnWidth },
    ...(mappings === undefined ? [] : [{ id: 'mappings', value: mappings }]),
    ...(steps === undefined
      ? []
      : [
          { id: 'thresholds', value: steps.build() },
          { id: 'color', value: { mode: FieldColorModeId.Thresholds } },
          { id: 'custom.cellOptions', value: background },
        ]),
  ];
}
