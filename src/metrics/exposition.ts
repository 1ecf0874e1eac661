import type { Family, FamilySpec, HistogramSample, Samples, StaticLabels } from './family.ts';
import { formatCanonicalFloat, formatValue } from './numbers.ts';
import { Points } from './points.ts';

/** `text` is the Prometheus text format 0.0.4, `openmetrics` is OpenMetrics 1.0. */
export type ExpositionFormat = 'text' | 'openmetrics';

const PIECE_LENGTH = 16 * 1024;
/** What is longer is not copied to be put together with its neighbours. */
const LONG_BYTES = 1024 * 1024;

/** What was rendered of some samples, by format. */
interface Rendered extends Partial<Record<ExpositionFormat, Buffer>> {
  /** With these. */
  readonly staticLabels: StaticLabels | undefined;
}

/**
 * Renders expositions, and remembers the lines of samples as long as these are in use: of a service code that
 * was not polled since the last scrape, nothing is rendered anew.
 */
export class Exposition {
  /** By the samples themselves: published ones never change. */
  readonly #rendered = new WeakMap<Samples, Rendered>();

  /**
   * The exposition of some families, in their order (text 0.0.4; OpenMetrics 1.0, "Text format"). Families
   * without samples are left out. A family may be given in several parts, one behind the other; each sample
   * must be given once. Lone surrogates become U+FFFD.
   */
  render(families: readonly Family[], format: ExpositionFormat): Buffer {
    return Buffer.concat(this.renderPieces(families, format));
  }

  /** The same in few pieces, the long ones of which are kept here: nobody may change them. */
  renderPieces(families: readonly Family[], format: ExpositionFormat): readonly Buffer[] {
    const parts: Buffer[] = [];
    let lastSpec: FamilySpec | undefined;
    for (const family of families) {
      const { spec, samples } = family;
      if (samples.length === 0) continue;
      if (spec !== lastSpec) parts.push(Buffer.from(renderMetadata(spec, format)));
      lastSpec = spec;
      parts.push(this.#lines(family, format));
    }
    if (format === 'openmetrics') parts.push(Buffer.from('# EOF\n'));
    return gathered(parts);
  }

  #lines(family: Family, format: ExpositionFormat): Buffer {
    const { samples, staticLabels } = family;
    let rendered = this.#rendered.get(samples);
    if (rendered === undefined || rendered.staticLabels !== staticLabels) {
      rendered = { staticLabels };
      this.#rendered.set(samples, rendered);
    }
    rendered[format] ??= renderSamples(family, format);
    return rendered[format];
  }
}

/** Short neighbours put together. */
function gathered(parts: readonly Buffer[]): readonly Buffer[] {
  const pieces: Buffer[] = [];
  let short: Buffer[] = [];
  for (const part of parts) {
    if (part.length < LONG_BYTES) {
      short.push(part);
      continue;
    }
    pieces.push(Buffer.concat(short), part);
    short = [];
  }
  pieces.push(Buffer.concat(short));
  return pieces;
}

/** The sample lines of one family, without its metadata: a function of its arguments alone. */
function renderSamples({ spec, samples, staticLabels = {} }: Family, format: ExpositionFormat): Buffer {
  const ending = staticPairs(staticLabels);
  const openings = spec.labels.map((label, index) => `${index === 0 ? '' : '",'}${label}="`);
  const lines = new Lines();
  if (samples instanceof Points) {
    const [opening = '', ...others] = openings;
    const beginning = opening + escapeQuoted(samples.serviceCode);
    for (const [index, labels] of samples.labelSets.entries()) {
      const pairs = joined(labelPairs(beginning, others, labels), ending);
      const created = samples.created?.[index];
      lines.add(renderPlain(spec, samples.values[index] ?? 0, created, pairs, format));
    }
    return lines.encoded();
  }
  const bounds = boundLabels(spec, format);
  for (const sample of samples) {
    const pairs = joined(labelPairs('', openings, sample.labels), ending);
    if ('buckets' in sample) lines.add(renderHistogram(spec, sample, pairs, bounds, format));
    else lines.add(renderPlain(spec, sample.value, sample.created, pairs, format));
  }
  return lines.encoded();
}

/**
 * Text that is encoded a piece at a time: strings that are put together by the megabyte outlive the collector's nursery,
 * at several times the price.
 */
class Lines {
  readonly #pieces: Buffer[] = [];
  #text = '';

  add(text: string): void {
    this.#text += text;
    if (this.#text.length < PIECE_LENGTH) return;
    this.#pieces.push(Buffer.from(this.#text));
    this.#text = '';
  }

  encoded(): Buffer {
    return Buffer.concat([...this.#pieces, Buffer.from(this.#text)]);
  }
}

/** How many series some families are to Prometheus, the `_created` ones of OpenMetrics not among them. */
export function countSeries(families: readonly Family[]): number {
  let count = 0;
  for (const { spec, samples } of families) {
    if (spec.type !== 'histogram') {
      count += samples.length;
      continue;
    }
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

function renderPlain(
  spec: FamilySpec,
  value: number,
  created: number | undefined,
  pairs: string,
  format: ExpositionFormat,
): string {
  const labels = braced(pairs);
  const line = `${spec.name}${labels} ${formatValue(value)}\n`;
  return spec.type === 'counter' ? line + renderCreated(spec, labels, created, format) : line;
}

function renderHistogram(
  spec: FamilySpec,
  sample: HistogramSample,
  pairs: string,
  bounds: readonly string[],
  format: ExpositionFormat,
): string {
  const { name } = spec;
  const labels = braced(pairs);
  let text = '';
  for (const [index, count] of sample.buckets.entries()) {
    text += `${name}_bucket{${joined(pairs, `le="${bounds[index] ?? '+Inf'}"`)}} ${formatValue(count)}\n`;
  }
  text += `${name}_sum${labels} ${formatValue(sample.sum)}\n`;
  text += `${name}_count${labels} ${formatValue(sample.buckets.at(-1) ?? 0)}\n`;
  return text + renderCreated(spec, labels, sample.created, format);
}

/** The values of `le`, but for `+Inf`. Text 0.0.4 leaves their form open: there they stay as Go's client writes them. */
function boundLabels(spec: FamilySpec, format: ExpositionFormat): readonly string[] {
  return (spec.buckets ?? []).map(format === 'openmetrics' ? formatCanonicalFloat : formatValue);
}

function renderCreated(
  spec: FamilySpec,
  labels: string,
  created: number | undefined,
  format: ExpositionFormat,
): string {
  if (format === 'text' || created === undefined) return '';
  return `${metadataName(spec, format)}_created${labels} ${formatValue(created)}\n`;
}

/** `openings` are what stands before each value: the end of the value before it, the label's name, a quote. */
function labelPairs(beginning: string, openings: readonly string[], values: readonly string[]): string {
  let text = beginning;
  for (let index = 0; index < openings.length; index += 1) {
    text += openings[index] + escapeQuoted(values[index] ?? '');
  }
  return text === '' ? text : `${text}"`;
}

function staticPairs(labels: StaticLabels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeQuoted(value)}"`)
    .join();
}

function joined(pairs: string, more: string): string {
  return pairs === '' || more === '' ? pairs + more : `${pairs},${more}`;
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
