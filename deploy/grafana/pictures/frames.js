// Converts responses of Prometheus to data frames for Grafana's components.
import {
  FieldType,
  getDisplayProcessor,
  standardTransformers,
  standardTransformersRegistry,
  toDataFrame,
  transformDataFrame,
} from '@grafana/data';
import { lastValueFrom } from 'rxjs';

const wanted = [standardTransformers.mergeTransformer, standardTransformers.organizeFieldsTransformer];
standardTransformersRegistry.setInit(() =>
  wanted.map((one) => ({ id: one.id, name: one.name, transformation: async () => one })),
);

/** Defaults of the panel plugins that the components lack. */
const CUSTOM = {
  drawStyle: 'line',
  lineInterpolation: 'linear',
  axisPlacement: 'auto',
  axisColorMode: 'text',
  scaleDistribution: { type: 'linear' },
  spanNulls: false,
  thresholdsStyle: { mode: 'off' },
  stacking: { mode: 'none', group: 'A' },
  hideFrom: { legend: false, tooltip: false, viz: false },
  cellOptions: { type: 'auto' },
};

/** The frames of a panel, with its field configuration applied. */
export async function framesOf(panel, answers, theme, range) {
  const targets = panel.targets.map((target) => ({
    target,
    result: answers[`${panel.id} ${target.refId}`].data.result,
  }));
  const frames = targets.flatMap(({ target, result }) =>
    target.format === 'table'
      ? [tableFrame(target, result, panel.targets.length)]
      : result.map((series) => seriesFrame(target, series, range)),
  );
  const transformed = await lastValueFrom(transformDataFrame(panel.transformations ?? [], frames));
  let index = 0;
  for (const frame of transformed) {
    for (const field of frame.fields) {
      configure(field, panel, theme, field.type === FieldType.number ? index++ : 0);
    }
  }
  return transformed;
}

function seriesFrame({ refId, legendFormat }, { metric, values, value }, range) {
  const points = values === undefined ? [value] : withGaps(values, range);
  const name = legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? '');
  return toDataFrame({
    refId,
    name,
    fields: [
      {
        name: 'Time',
        type: FieldType.time,
        values: points.map(([time]) => time * 1000),
      },
      {
        name: 'Value',
        type: FieldType.number,
        labels: metric,
        values: points.map(([, number]) => numberOf(number)),
        config: { displayNameFromDS: name },
      },
    ],
  });
}

function tableFrame({ refId }, result, targets) {
  const labels = [...new Set(result.flatMap(({ metric }) => Object.keys(metric)))];
  return toDataFrame({
    refId,
    fields: [
      { name: 'Time', type: FieldType.time, values: result.map(({ value: [time] }) => time * 1000) },
      ...labels.map((label) => ({
        name: label,
        type: FieldType.string,
        values: result.map(({ metric }) => metric[label]),
      })),
      {
        name: targets === 1 ? 'Value' : `Value #${refId}`,
        type: FieldType.number,
        values: result.map(({ value: [, number] }) => numberOf(number)),
      },
    ],
  });
}

/** Every step of the range, including those without a value: a line must not cross an outage. */
function withGaps(values, { start, end, step }) {
  const known = new Map(values);
  const steps = Array.from({ length: (end - start) / step + 1 }, (_, index) => start + index * step);
  return steps.map((time) => [time, known.get(time) ?? 'NaN']);
}

/** A NaN is a gap. */
function numberOf(text) {
  const number = Number(text);
  return Number.isNaN(number) ? null : number;
}

function configure(field, { fieldConfig: { defaults, overrides }, type }, theme, seriesIndex) {
  const isTable = type === 'table';
  const config = structuredClone({ ...defaults, ...field.config });
  config.color ??= { mode: isTable ? 'thresholds' : 'palette-classic' };
  config.custom = { ...CUSTOM, ...defaults.custom };
  const { displayNameFromDS, displayName = displayNameFromDS ?? field.name } = field.config;
  for (const { matcher, properties } of overrides) {
    const isMatched =
      matcher.id === 'byRegexp'
        ? new RegExp(matcher.options.slice(1, -1)).test(displayName)
        : matcher.options === displayName;
    if (!isMatched) continue;
    for (const { id, value } of properties) {
      if (id.startsWith('custom.')) config.custom[id.slice('custom.'.length)] = value;
      else config[id] = value;
    }
  }
  const steps = config.thresholds?.steps ?? [{ value: null, color: 'green' }];
  const thresholds = steps.map((one) => ({ ...one, value: one.value ?? Number.NEGATIVE_INFINITY }));
  config.thresholds = { mode: 'absolute', steps: thresholds };
  field.config = config;
  field.state = { ...field.state, seriesIndex };
  field.display = getDisplayProcessor({ field, theme });
  field.getLinks = () => [];
}
