import type { Family, FamilySpec, HistogramSample, PlainSample, Sample } from './family.ts';
import { formatCanonicalFloat, formatValue } from './numbers.ts';

/** `text` is the Prometheus text format 0.0.4, `openmetrics` is OpenMetrics 1.0. */
export type ExpositionFormat = 'text' | 'openmetrics';

/** What was rendered of some samples, by format. */
type Rendered = Partial<Record<ExpositionFormat, Buffer>>;

/**
 * Renders expositions, and remembers the lines of samples as long as these are in use: of a service code that
 * was not polled since the last scrape, nothing is rendered anew.
 */
export class Exposition {
  /** By the samples themselves: published ones never change. */
  readonly #rendered = new WeakMap<readonly Sample[], Rendered>();

  /**
   * The exposition of some families, in their order (text 0.0.4; OpenMetrics 1.0, "Text format"). Families
   * without samples are left out. A family may be given in several parts, one behind the other; each sample
   * must be given once. Lone surrogates become U+FFFD.
   */
  render(families: readonly Family[], format: ExpositionFormat): Buffer {
    const parts: Buffer[] = [];
    let lastSpec: FamilySpec | undefined;
    for (const { spec, samples } of families) {
      if (samples.length === 0) continue;
      if (spec !== lastSpec) parts.push(Buffer.from(renderMetadata(spec, format)));
      lastSpec = spec;
      parts.push(this.#lines(spec, samples, format));
    }
    if (format === 'openmetrics') parts.push(Buffer.from('# EOF\n'));
    return Buffer.concat(parts);
  }

  #lines(spec: FamilySpec, samples: readonly Sample[], format: ExpositionFormat): Buffer {
    let rendered = this.#rendered.get(samples);
    if (rendered === undefined) {
      rendered = {};
      this.#rendered.set(samples, rendered);
    }
    rendered[format] ??= Buffer.from(renderSamples(spec, samples, format));
    return rendered[format];
  }
}

/** The sample lines of one family, without its metadata: a function of its arguments alone. */
function renderSamples(spec: FamilySpec, samples: readonly Sample[], format: ExpositionFormat): string {
  const bounds = boundLabels(spec, format);
  let text = '';
  for (const sample of samples) {
    text +=
      'buckets' in sample ? renderHistogram(spec, sample, bounds, format) : renderPlain(spec, sample, format);
  }
  return text;
}

/** How many series some families are to Prometheus, the `_created` ones of OpenMetrics not among them. */
export function countSeries(families: readonly Family[]): number {
  let count = 0;
  for (const { samples } of families) {
    // The buckets of a histogram, its sum and its count.
    for (const sample of samples) count += 'buckets' in sample ? sample.buckets.length + 2 : 1;
  }
  return count;
}

/** The name on metadata lines: OpenMetrics reserves the suffixes `_total` and `_info` for samples ("Suffixes"). */
function metadataName(spec: FamilySpec, format: ExpositionFormat): string {
  if (format === 'text') return spec.name;
  if (spec.type === 'counter') return spec.name.replace(/_total$/, '');
  if (spec.type === 'info') return spec.name.replace(/_info$/, '');
  return spec.name;
}

function renderMetadata(spec: FamilySpec, format: ExpositionFormat): string {
  const name = metadataName(spec, format);
  if (format === 'text') {
    const type = spec.type === 'info' ? 'gauge' : spec.type;
    return `# HELP ${name} ${escapeHelp(spec.help)}\n# TYPE ${name} ${type}\n`;
  }
  const unit = spec.unit === undefined ? '' : `# UNIT ${name} ${spec.unit}\n`;
  return `# TYPE ${name} ${spec.type}\n${unit}# HELP ${name} ${escapeQuoted(spec.help)}\n`;
}

function renderPlain(spec: FamilySpec, sample: PlainSample, format: ExpositionFormat): string {
  const labels = braced(labelPairs(spec.labels, sample.labels));
  const line = `${spec.name}${labels} ${formatValue(sample.value)}\n`;
  return spec.type === 'counter' ? line + renderCreated(spec, labels, sample, format) : line;
}

function renderHistogram(
  spec: FamilySpec,
  sample: HistogramSample,
  bounds: readonly string[],
  format: ExpositionFormat,
): string {
  const { name } = spec;
  const pairs = labelPairs(spec.labels, sample.labels);
  const labels = braced(pairs);
  const separator = pairs === '' ? '' : ',';
  let text = '';
  for (const [index, count] of sample.buckets.entries()) {
    text += `${name}_bucket{${pairs}${separator}le="${bounds[index] ?? '+Inf'}"} ${formatValue(count)}\n`;
  }
  text += `${name}_sum${labels} ${formatValue(sample.sum)}\n`;
  text += `${name}_count${labels} ${formatValue(sample.buckets.at(-1) ?? 0)}\n`;
  return text + renderCreated(spec, labels, sample, format);
}

/** The values of `le`, but for `+Inf`. Text 0.0.4 leaves their form open: there they stay as Go's client writes them. */
function boundLabels(spec: FamilySpec, format: ExpositionFormat): readonly string[] {
  return (spec.buckets ?? []).map(format === 'openmetrics' ? formatCanonicalFloat : formatValue);
}

function renderCreated(
  spec: FamilySpec,
  labels: string,
  { created }: Sample,
  format: ExpositionFormat,
): string {
  if (format === 'text' || created === undefined) return '';
  return `${metadataName(spec, format)}_created${labels} ${formatValue(created)}\n`;
}

function labelPairs(names: readonly string[], values: readonly string[]): string {
  let text = '';
  for (let index = 0; index < names.length; index++) {
    text += `${index === 0 ? '' : ','}${names[index]}="${escapeQuoted(values[index] ?? '')}"`;
  }
  return text;
}

function braced(pairs: string): string {
  return pairs === '' ? '' : `{${pairs}}`;
}

/** HELP of text 0.0.4 escapes backslash and line feed; the quote stands for itself. */
function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

/** Label values of both formats, and HELP of OpenMetrics, escape the quote too. */
function escapeQuoted(text: string): string {
  // Nearly no value needs it, and there can be very many.
  return /["\\\n]/.test(text) ? escapeHelp(text).replaceAll('"', '\\"') : text;
}
