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

/** The data source of everything: the one that is chosen at the top of the dashboard. */
export const DATA_SOURCE = { type: 'prometheus', uid: '${datasource}' };

/** What every panel has to say of itself. */
export interface PanelText {
  readonly title: string;
  readonly description: string;
  /** One of Grafana's units. */
  readonly unit: string;
  /** Width, of 24 columns. */
  readonly span: number;
  readonly height?: number;
  /** What stands there when there is no series. */
  readonly noValue: string;
}

/** An expression and how its series are called; in a legend, `{{label}}` is the label's value. */
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

/** Gives any kind of panel its text, size and data source. */
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

/** How the targets of a panel are told apart: A, B, and so on. */
export function refIdOf(index: number): string {
  return 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.charAt(index);
}

/** The targets of a panel. */
export function targetsOf(
  lines: readonly Line[],
  configure: (query: DataqueryBuilder) => DataqueryBuilder,
): DataqueryBuilder[] {
  return lines.map(({ expr, legend }, index) =>
    configure(new DataqueryBuilder())
      .refId(refIdOf(index))
      .datasource(DATA_SOURCE)
      .expr(expr)
      .legendFormat(legend),
  );
}

const asRange = (query: DataqueryBuilder): DataqueryBuilder =>
  query.range().format(PromQueryFormat.TimeSeries);

/** Lines over time. */
export function timeSeries(text: PanelText, ...lines: readonly Line[]): TimeSeriesPanelBuilder {
  const panel = withText(new TimeSeriesPanelBuilder(), text)
    .targets(targetsOf(lines, asRange))
    .lineWidth(1)
    .fillOpacity(10)
    .gradientMode(GraphGradientMode.None)
    .showPoints(VisibilityMode.Never)
    .axisSoftMin(0)
    .legend(legendFor(text))
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending));
  // What is counted comes in whole numbers, and an axis for nothing but zeros need not go up to 100.
  if (['none', 'locale'].includes(text.unit)) panel.decimals(0);
  return ['none', 'locale', 'cpm'].includes(text.unit) ? panel.axisSoftMax(1) : panel;
}

/** A wide panel has room for a table of values beside it, a narrow one for names below. */
function legendFor({ span }: PanelText): VizLegendOptionsBuilder {
  const legend = new VizLegendOptionsBuilder().showLegend(true);
  return span >= 12
    ? legend
        .displayMode(LegendDisplayMode.Table)
        .placement(LegendPlacement.Right)
        .calcs(['lastNotNull', 'max'])
    : legend.displayMode(LegendDisplayMode.List).placement(LegendPlacement.Bottom).calcs([]);
}

/** Lines that add up to a whole, one on the other. */
export function stackedSeries(text: PanelText, ...lines: readonly Line[]): TimeSeriesPanelBuilder {
  return timeSeries(text, ...lines)
    .fillOpacity(35)
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'));
}

/** Draws the thresholds of a time series as dashed lines. */
export function dashedThresholds(panel: TimeSeriesPanelBuilder): TimeSeriesPanelBuilder {
  return panel.thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed));
}

/** One number, of this moment. */
export function stat(text: PanelText, ...lines: readonly Line[]): StatPanelBuilder {
  return withText(new StatPanelBuilder(), { height: 4, ...text })
    .targets(targetsOf(lines, (query) => query.instant().format(PromQueryFormat.TimeSeries)))
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('').values(false))
    .colorMode(BigValueColorMode.Value)
    .graphMode(BigValueGraphMode.None)
    .textMode(BigValueTextMode.Auto)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds));
}

/** One number of this moment in a coloured field: for what is good or bad. */
export function verdict(text: PanelText, ...lines: readonly Line[]): StatPanelBuilder {
  return stat(text, ...lines).colorMode(BigValueColorMode.BackgroundSolid);
}

/** A state for each series, over time. */
export function stateTimeline(text: PanelText, ...lines: readonly Line[]): StateTimelinePanelBuilder {
  return withText(new StateTimelinePanelBuilder(), text)
    .targets(targetsOf(lines, asRange))
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .showValue(VisibilityMode.Never)
    .mergeValues(true)
    .fillOpacity(80)
    .lineWidth(0)
    .rowHeight(0.8)
    .perPage(20)
    .legend(
      new VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .calcs([]),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Single).sort(SortOrder.None));
}
