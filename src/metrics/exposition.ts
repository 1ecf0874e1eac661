import type { LabelSet } from '../families/label-set.ts';
import { NO_STATIC_LABELS, type Family, type FamilySpec, type HistogramSample } from '../families/family.ts';

/** `text` is the Prometheus text format 0.0.4, `openmetrics` is OpenMetrics 1.0. */
export type ExpositionFormat = 'text' | 'openmetrics';

/** Comes after the last family. */
const END: Readonly<Record<ExpositionFormat, string>> = { text: '', openmetrics: '# EOF\n' };

/** Between two blocks, the event loop runs polls: smaller blocks would wait for more of them. */
const BLOCK_BYTES = 1024 * 1024;
/** Lines are joined up to this length: longer strings would leave V8's young generation. */
const TEXT_LENGTH = 16 * 1024;
/** A plain function renders them: V8 compiles the loop of a generator too late for the first scrapes. */
const ROWS_AT_A_TIME = 64;
/** Room that a text may seem to need: three bytes for each UTF-16 unit, of which most take one. */
const SPARE_BYTES = 4 * TEXT_LENGTH;

/** The size of the last exposition, which the next one will have, too. */
export interface LastBody {
  bytes: number;
}

/**
 * Renders families in their order (text 0.0.4; OpenMetrics 1.0, "Text format"), without those that have no
 * samples, in blocks: the body of 2,000 service codes has 45 MB. A family may come in several consecutive
 * parts, each sample once. Lone surrogates become U+FFFD. `last` tells the size of the first block, and gets
 * that of this body.
 */
export function* renderBlocks(
  families: Iterable<Family>,
  format: ExpositionFormat,
  last: LastBody = { bytes: BLOCK_BYTES },
): Generator<Buffer, void, undefined> {
  let block = Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, last.bytes + SPARE_BYTES));
  let length = 0;
  let bytes = 0;
  for (const text of renderTexts(families, format)) {
    // A UTF-16 unit takes three bytes at most.
    const maxBytes = 3 * text.length;
    if (length + maxBytes > block.length) {
      if (length > 0) yield block.subarray(0, length);
      block = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, maxBytes));
      length = 0;
    }
    const written = block.write(text, length);
    length += written;
    bytes += written;
  }
  last.bytes = bytes;
  yield block.subarray(0, length);
}

function* renderTexts(families: Iterable<Family>, format: ExpositionFormat): Generator<string, void> {
  let text = '';
  let lastSpec: FamilySpec | undefined;
  for (const family of families) {
    const { spec, samples } = family;
    const renderLines = createLineRenderer(family, format);
    const count = 'labelSets' in samples ? samples.numbers.length : samples.length;
    for (let row = 0; row < count; row += ROWS_AT_A_TIME) {
      const lines = renderLines(row, Math.min(count, row + ROWS_AT_A_TIME));
      if (lines === '') continue;
      if (spec !== lastSpec) text += renderMetadata(spec, format);
      lastSpec = spec;
      text += lines;
      if (text.length < TEXT_LENGTH) continue;
      yield text;
      text = '';
    }
  }
  yield text + END[format];
}

type LabelRenderer = (labels: LabelSet) => string;

/** Returns a function that renders the labels of a sample, which can lack the last ones of its family. */
function createLabelRenderer({ spec, serviceCode, staticLabels = NO_STATIC_LABELS }: Family): LabelRenderer {
  const names = serviceCode === undefined ? spec.labels : spec.labels.slice(1);
  const start = serviceCode === undefined ? '' : renderPair(spec.labels[0], serviceCode);
  const openings = names.map((name, labelIndex) =>
    labelIndex === 0 && start === '' ? `${name}="` : `,${name}="`,
  );
  const end = Object.entries(staticLabels)
    .map(([name, value]) => renderPair(name, value))
    .join();
  return (labels) => {
    let pairs = start;
    for (let labelIndex = 0; labelIndex < labels.length; labelIndex += 1)
      pairs += `${openings[labelIndex]}${escapeQuoted(labels[labelIndex] ?? '')}"`;
    return joinPairs(pairs, end);
  };
}

function renderPair(name = '', value = ''): string {
  return `${name}="${escapeQuoted(value)}"`;
}

function joinPairs(pairs: string, more: string): string {
  return pairs === '' || more === '' ? pairs + more : `${pairs},${more}`;
}

function wrapInBraces(pairs: string): string {
  return pairs === '' ? '' : `{${pairs}}`;
}

/** Returns a function that renders the lines of some rows: none for what is no number. */
function createLineRenderer(
  family: Family,
  format: ExpositionFormat,
): (firstRow: number, endRow: number) => string {
  const { spec, samples } = family;
  const renderLabels = createLabelRenderer(family);
  return (firstRow, endRow) => {
    let text = '';
    for (let row = firstRow; row < endRow; row += 1)
      text +=
        'labelSets' in samples
          ? renderNumber(spec.name, renderLabels, samples.labelSets[row], samples.numbers[row])
          : renderHistogram(spec, samples[row], renderLabels, format);
    return text;
  };
}

function renderNumber(
  name: string,
  renderLabels: LabelRenderer,
  labels: LabelSet = [],
  number: number = Number.NaN,
): string {
  if (Number.isNaN(number)) return '';
  return `${name}${wrapInBraces(renderLabels(labels))} ${formatSampleValue(number)}\n`;
}

function renderHistogram(
  { name, buckets: bounds = [] }: FamilySpec,
  sample: HistogramSample | undefined,
  renderLabels: LabelRenderer,
  format: ExpositionFormat,
): string {
  if (sample === undefined) return '';
  // Text 0.0.4 does not specify the values of `le`: as in Go's client.
  const formatBound = format === 'openmetrics' ? formatCanonicalFloat : formatSampleValue;
  const pairs = renderLabels(sample.labels);
  const labels = wrapInBraces(pairs);
  let text = '';
  for (const [index, count] of sample.buckets.entries()) {
    const bound = formatBound(bounds[index] ?? Infinity);
    text += `${name}_bucket{${joinPairs(pairs, `le="${bound}"`)}} ${formatSampleValue(count)}\n`;
  }
  text += `${name}_sum${labels} ${formatSampleValue(sample.sum)}\n`;
  return `${text}${name}_count${labels} ${formatSampleValue(sample.buckets.at(-1) ?? 0)}\n`;
}

/** The name for metadata: OpenMetrics reserves the suffixes `_total` and `_info` for samples ("Suffixes"). */
function toMetadataName(spec: FamilySpec, format: ExpositionFormat): string {
  if (format === 'text') return spec.name;
  if (spec.type === 'counter') return spec.name.replace(/_total$/, '');
  if (spec.type === 'info') return spec.name.replace(/_info$/, '');
  return spec.name;
}

function renderMetadata(spec: FamilySpec, format: ExpositionFormat): string {
  const name = toMetadataName(spec, format);
  if (format === 'text') {
    const type = spec.type === 'info' ? 'gauge' : spec.type;
    return `# HELP ${name} ${escapeHelp(spec.help)}\n# TYPE ${name} ${type}\n`;
  }
  const [, unit] = /_(bytes|seconds)$/.exec(name) ?? [];
  const unitLine = unit === undefined ? '' : `# UNIT ${name} ${unit}\n`;
  return `# TYPE ${name} ${spec.type}\n${unitLine}# HELP ${name} ${escapeQuoted(spec.help)}\n`;
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
