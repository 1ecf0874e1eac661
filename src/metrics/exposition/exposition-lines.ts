import type { LabelSet } from '../../listing/label-values.ts';
import type { Family, FamilySpec, HistogramSample, StaticLabels } from '../catalogue/family.ts';

/** `text` is the Prometheus text format 0.0.4, `openmetrics` is OpenMetrics 1.0. */
export type ExpositionFormat = 'text' | 'openmetrics';

/** Lines are joined up to this length: longer strings would leave V8's young generation. */
const TEXT_LENGTH = 16 * 1024;

/** Renders the sample lines of a family, without its metadata, in short-lived texts. */
export function* renderSamples(family: Family, format: ExpositionFormat): Generator<string, void> {
  const { spec, samples } = family;
  const renderLabels = createLabelRenderer(family);
  if (!('labelSets' in samples)) {
    const bounds = formatBounds(spec, format);
    for (const sample of samples)
      yield renderHistogramSample(spec, sample, renderLabels(sample.labels), bounds);
    return;
  }
  let text = '';
  for (const [row, labels] of samples.labelSets.entries()) {
    const number = samples.numbers[row] ?? Number.NaN;
    if (Number.isNaN(number)) continue;
    text += `${spec.name}${wrapInBraces(renderLabels(labels))} ${formatSampleValue(number)}\n`;
    if (text.length < TEXT_LENGTH) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

/** Returns a function that renders the labels of a sample, which can lack the last ones of its family. */
function createLabelRenderer({ spec, serviceCode, staticLabels = {} }: Family): (labels: LabelSet) => string {
  // Each closes the value before it: `",name="`.
  const prefixes = spec.labels.map((label, index) => `${index === 0 ? '' : '",'}${label}="`);
  const start = serviceCode === undefined ? '' : `${prefixes.shift()}${escapeQuoted(serviceCode)}`;
  const suffix = renderStaticPairs(staticLabels);
  return (labels) => {
    let text = start;
    for (let at = 0; at < labels.length; at += 1) text += `${prefixes[at]}${escapeQuoted(labels[at] ?? '')}`;
    return joinPairs(text === '' ? text : `${text}"`, suffix);
  };
}

/** The name for metadata: OpenMetrics reserves the suffixes `_total` and `_info` for samples ("Suffixes"). */
function toMetadataName(spec: FamilySpec, format: ExpositionFormat): string {
  if (format === 'text') return spec.name;
  if (spec.type === 'counter') return spec.name.replace(/_total$/, '');
  if (spec.type === 'info') return spec.name.replace(/_info$/, '');
  return spec.name;
}

export function renderMetadata(spec: FamilySpec, format: ExpositionFormat): string {
  const name = toMetadataName(spec, format);
  if (format === 'text') {
    const type = spec.type === 'info' ? 'gauge' : spec.type;
    return `# HELP ${name} ${escapeHelp(spec.help)}\n# TYPE ${name} ${type}\n`;
  }
  const [, unit] = /_(bytes|seconds)$/.exec(name) ?? [];
  const unitLine = unit === undefined ? '' : `# UNIT ${name} ${unit}\n`;
  return `# TYPE ${name} ${spec.type}\n${unitLine}# HELP ${name} ${escapeQuoted(spec.help)}\n`;
}

function renderHistogramSample(
  { name }: FamilySpec,
  sample: HistogramSample,
  pairs: string,
  bounds: readonly string[],
): string {
  const labels = wrapInBraces(pairs);
  let text = '';
  for (const [index, count] of sample.buckets.entries()) {
    text += `${name}_bucket{${joinPairs(pairs, `le="${bounds[index] ?? '+Inf'}"`)}} ${formatSampleValue(count)}\n`;
  }
  text += `${name}_sum${labels} ${formatSampleValue(sample.sum)}\n`;
  return `${text}${name}_count${labels} ${formatSampleValue(sample.buckets.at(-1) ?? 0)}\n`;
}

/** Formats the values of `le`, without `+Inf`. Text 0.0.4 does not specify them: as in Go's client. */
function formatBounds(spec: FamilySpec, format: ExpositionFormat): readonly string[] {
  return (spec.buckets ?? []).map(format === 'openmetrics' ? formatCanonicalFloat : formatSampleValue);
}

function renderStaticPairs(labels: StaticLabels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeQuoted(value)}"`)
    .join();
}

function joinPairs(pairs: string, more: string): string {
  return pairs === '' || more === '' ? pairs + more : `${pairs},${more}`;
}

function wrapInBraces(pairs: string): string {
  return pairs === '' ? '' : `{${pairs}}`;
}

/** HELP of text 0.0.4: escapes backslash and line feed, but not the quote. */
function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

/** Label values of both formats, and HELP of OpenMetrics: also escapes the quote. */
function escapeQuoted(text: string): string {
  // Almost no value needs escaping: the test saves three replacements.
  return /["\\\n]/.test(text) ? escapeHelp(text).replaceAll('"', '\\"') : text;
}

/** Formats a sample value: the shortest decimal of the same float64 (OpenMetrics 1.0, "Numbers"). */
export function formatSampleValue(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}

/** Formats `le` (OpenMetrics 1.0, "Canonical Numbers"): Go's `%g`, plus `.0` for integers. */
export function formatCanonicalFloat(value: number): string {
  if (!Number.isFinite(value)) return formatSampleValue(value);
  const [mantissa = '', exponentText = ''] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return Number.isInteger(value) ? `${value}.0` : String(value);
  const sign = exponent < 0 ? '-' : '+';
  return `${mantissa}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
