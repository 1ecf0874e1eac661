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
import { linksOfLegend } from './links.ts';

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
  const links = linksOfLegend(lines[0]?.legend ?? '');
  if (links.length > 0) panel.overrideByRegexp('/.*/', [{ id: 'links', value: links }]);
  // Counts are whole numbers, and an axis with zeros only should not extend to 100.
  if (['none', 'locale'].includes(text.unit)) panel.decimals(0);
  const isCount = ['none', 'locale'].includes(text.unit) || text.unit.endsWith('/min');
  return isCount ? panel.axisSoftMax(1) : panel;
}

/** Panels of full width have a table of values on the right, others a list of names below: one long name would take the plot. */
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

/** Draws the thresholds of a time series as dashed lines. */
export function dashedThresholds(panel: TimeSeriesPanelBuilder): TimeSeriesPanelBuilder {
  return panel.thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed));
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

/**
 * The state of each series over time, by mappings. With `wasDown`, the series that were down in the time range, and more series
 * than fit, the others are left out.
 */
export function stateTimeline(
  text: PanelText,
  { expr, legend, wasDown }: Line & { readonly wasDown?: string },
): StateTimelinePanelBuilder {
  const shown =
    wasDown === undefined
      ? expr
      : `${expr} and on () count(${expr}) <= ${MAX_ROWS} or ${expr} and ${wasDown}`;
  return (
    withText(new StateTimelinePanelBuilder(), text)
      .targets(createTargets([{ expr: shown, legend }], asRange))
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
