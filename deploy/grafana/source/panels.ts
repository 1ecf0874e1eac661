import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  GraphGradientMode,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import { FieldColorBuilder, FieldColorModeId } from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatPanelBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as StateTimelinePanelBuilder } from '@grafana/grafana-foundation-sdk/statetimeline';
import { PanelBuilder as TimeSeriesPanelBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { thresholds } from './appearance.ts';
import { linksOfLegend } from './links.ts';
import { largest, legendOf, onLabels, others } from './queries.ts';

/** The data source that is selected at the top of the dashboard. */
export const DATA_SOURCE = { type: 'prometheus', uid: '${datasource}' };

export interface PanelText {
  readonly title: string;
  readonly description: string;
  /** A unit id of Grafana. */
  readonly unit: string;
  /** Width in columns, 1 to 24. */
  readonly span: number;
  readonly height?: number;
  /** Shown if there is no series. */
  readonly noValue: string;
}

/** An expression and the legend of its series, in which `{{label}}` is the value of a label. */
export interface Line {
  readonly expr: string;
  readonly legend: string;
}

interface TextSetters<Panel> {
  title(title: string): Panel;
  description(description: string): Panel;
  unit(unit: string): Panel;
  noValue(noValue: string): Panel;
  span(w: number): Panel;
  height(h: number): Panel;
  datasource(source: typeof DATA_SOURCE): Panel;
}

export function withText<Panel extends TextSetters<Panel>>(
  panel: Panel,
  { title, description, unit, span, height = 8, noValue }: PanelText,
): Panel {
  return panel
    .title(title)
    .description(description)
    .unit(unit)
    .noValue(noValue)
    .span(span)
    .height(height)
    .datasource(DATA_SOURCE);
}

/** Formats the refId of a target: A, B, and so on. */
export function formatRefId(index: number): string {
  return 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.charAt(index);
}

export function createTargets(
  lines: readonly Line[],
  configure: (query: DataqueryBuilder) => DataqueryBuilder,
): DataqueryBuilder[] {
  return lines.map(({ expr, legend }, index) =>
    configure(new DataqueryBuilder())
      .refId(formatRefId(index))
      .datasource(DATA_SOURCE)
      .expr(expr)
      .legendFormat(legend),
  );
}

const asRange = (query: DataqueryBuilder): DataqueryBuilder =>
  query.range().format(PromQueryFormat.TimeSeries);

export function timeSeries(text: PanelText, ...lines: readonly Line[]): TimeSeriesPanelBuilder {
  const panel = withText(new TimeSeriesPanelBuilder(), text)
    .targets(createTargets(lines, asRange))
    .lineWidth(1)
    // Translucent areas that overlap look like further series; only stacked ones are filled.
    .fillOpacity(0)
    .gradientMode(GraphGradientMode.None)
    .showPoints(VisibilityMode.Never)
    .axisSoftMin(0)
    .legend(legendFor(text))
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending));
  addLinks(panel, lines);
  // Counts are whole numbers, and an axis with zeros only should not extend to 100.
  if (['none', 'locale'].includes(text.unit)) panel.decimals(0);
  const isWhole = ['none', 'locale'].includes(text.unit) || text.unit.startsWith('suffix:');
  return isWhole ? panel.axisSoftMax(1) : panel;
}

/** Adds the links of the labels in the legend. */
function addLinks(panel: TimeSeriesPanelBuilder | StateTimelinePanelBuilder, lines: readonly Line[]): void {
  const links = linksOfLegend(lines[0]?.legend ?? '');
  if (links.length > 0) panel.overrideByRegexp('/.*/', [{ id: 'links', value: links }]);
}

/** The lines of the twenty largest series by labels, and one of the sum of all others. */
export function largestLines(
  labels: readonly string[],
  expr: string,
  legend = legendOf(labels.at(-1) ?? ''),
): readonly Line[] {
  return [
    { expr: largest(labels, expr), legend },
    { expr: others(labels, expr), legend: 'all others' },
  ];
}

/**
 * Panels of full width have a table of values on the right, others a list of names below: one long name would
 * take the plot.
 */
function legendFor({ span }: PanelText): VizLegendOptionsBuilder {
  const legend = new VizLegendOptionsBuilder().showLegend(true);
  return span === 24
    ? legend
        .displayMode(LegendDisplayMode.Table)
        .placement(LegendPlacement.Right)
        .calcs(['lastNotNull', 'max'])
        .sortBy('Last *')
        .sortDesc(true)
    : legend.displayMode(LegendDisplayMode.List).placement(LegendPlacement.Bottom).calcs([]);
}

export function stackedSeries(text: PanelText, ...lines: readonly Line[]): TimeSeriesPanelBuilder {
  return timeSeries(text, ...lines)
    .fillOpacity(35)
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'));
}

/** Draws a value that should not be exceeded as a dashed line. */
export function dashedLimit(panel: TimeSeriesPanelBuilder, limit: number): TimeSeriesPanelBuilder {
  return panel
    .thresholds(thresholds('transparent', [limit, 'red']))
    .thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed));
}

/** A single current number. */
export function stat(text: PanelText, ...lines: readonly Line[]): StatPanelBuilder {
  return withText(new StatPanelBuilder(), { height: 4, ...text })
    .targets(createTargets(lines, (query) => query.instant().format(PromQueryFormat.TimeSeries)))
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('').values(false))
    .colorMode(BigValueColorMode.Value)
    .graphMode(BigValueGraphMode.None)
    .textMode(BigValueTextMode.Auto)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds));
}

/** A single current number on a background coloured by thresholds. */
export function statusStat(text: PanelText, ...lines: readonly Line[]): StatPanelBuilder {
  return stat(text, ...lines).colorMode(BigValueColorMode.BackgroundSolid);
}

/** Beyond this, a timeline shows only what was down. */
const MAX_ROWS = 50;

interface States extends Line {
  /** Labels that tell the series apart. */
  readonly labels: readonly string[];
  /** The series that were down in the time range. */
  readonly wasDown: string;
}

/**
 * The series of a timeline of which each is up or down. If they are more than fit, those that were never down
 * are left out; a row says how many are up where none was down.
 */
export function upOrDown({ expr, legend, labels, wasDown }: States): Line {
  const total = `count_values("n", count(last_over_time((${expr})[$__range:$__rate_interval] @ end())))`;
  const allUp = `label_replace(${total}, "${labels.at(-1)}", "all $1 up", "n", "(.+)")`;
  return {
    legend,
    expr: [
      `${expr} and on () count(${expr}) <= ${MAX_ROWS}`,
      `${expr} and ${onLabels(labels)} ${wasDown}`,
      `${allUp} and on () (count(${expr}) > ${MAX_ROWS}) unless on () ${wasDown}`,
    ].join(' or '),
  };
}

/** The state of each series over time, by mappings. */
export function stateTimeline(text: PanelText, line: Line): StateTimelinePanelBuilder {
  const panel = withText(new StateTimelinePanelBuilder(), text);
  addLinks(panel, [line]);
  return (
    panel
      .targets(createTargets([line], asRange))
      // Mappings have the colours: thresholds would write "< 1" and "1+" into the tooltip.
      .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Fixed).fixedColor('#808080'))
      .showValue(VisibilityMode.Never)
      .mergeValues(true)
      .fillOpacity(80)
      .lineWidth(0)
      .rowHeight(0.8)
      .legend(
        new VizLegendOptionsBuilder()
          .showLegend(false)
          .displayMode(LegendDisplayMode.Hidden)
          .placement(LegendPlacement.Bottom)
          .calcs([]),
      )
      .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Single).sort(SortOrder.None))
  );
}
