/*
 * A strict parser of expositions, written from the specifications of the formats and not from the renderer.
 * It rejects valid syntax that this exporter does not write: timestamps, exemplars, blank lines, comments,
 * needless escapes.
 */

export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ParsedFamily {
  readonly type: string;
  readonly help: string;
  readonly unit: string | undefined;
  readonly samples: readonly ParsedSample[];
}

export interface Exposition {
  /** Families by the name on their metadata lines. */
  readonly families: ReadonlyMap<string, ParsedFamily>;
}

type Format = 'text' | 'openmetrics';

interface Draft {
  readonly name: string;
  type?: string;
  help?: string;
  unit?: string;
  readonly samples: ParsedSample[];
}

const NUMBER = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|[+-]Inf|NaN)$/;
const METRIC_NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const METADATA = new RegExp(`^# (HELP|TYPE|UNIT) (${METRIC_NAME}) (.*)$`, 's');
const SAMPLE = new RegExp(`^(${METRIC_NAME})(?:\\{(.*)\\})? ([^ ]+)$`, 's');

const SUFFIXES: Readonly<Record<Format, Readonly<Record<string, readonly string[]>>>> = {
  text: { gauge: [''], counter: [''], histogram: ['_bucket', '_sum', '_count'] },
  openmetrics: {
    gauge: [''],
    info: ['_info'],
    counter: ['_total'],
    histogram: ['_bucket', '_sum', '_count'],
  },
};

/** Parses an exposition. Throws an `Error` that quotes the invalid line. */
export function parseExposition(text: string, format: Format): Exposition {
  const drafts: Draft[] = [];
  for (const line of splitLines(text, format)) readLine(line, drafts, format);
  const families = new Map<string, ParsedFamily>();
  const owners = new Map<string, string>();
  for (const draft of drafts) {
    assertThat(!families.has(draft.name), `family ${draft.name} occurs once`);
    families.set(draft.name, finishFamily(draft, format, owners));
  }
  return { families };
}

function assertThat(condition: boolean, expectation: string): asserts condition {
  if (!condition) throw new Error(`Expected that ${expectation}`);
}

function splitLines(text: string, format: Format): readonly string[] {
  const lines = text.split('\n');
  assertThat(lines.pop() === '', 'the text ends in a line feed');
  if (format === 'openmetrics') assertThat(lines.pop() === '# EOF', 'the last line is # EOF');
  return lines;
}

function readLine(line: string, drafts: Draft[], format: Format): void {
  const last = drafts.at(-1);
  const metadata = METADATA.exec(line);
  if (metadata !== null) {
    const [, keyword = '', name = '', rest = ''] = metadata;
    const isSame = last?.name === name && last.samples.length === 0;
    const draft: Draft = isSame ? last : { name, samples: [] };
    if (!isSame) drafts.push(draft);
    readMetadata(draft, keyword, rest, format);
    return;
  }
  const [, name = '', labels, number = ''] = SAMPLE.exec(line) ?? [];
  assertThat(NUMBER.test(number), `this line is a sample: ${JSON.stringify(line)}`);
  assertThat(last !== undefined, `metadata precedes ${name}`);
  const value = Number(number.replace('Inf', 'Infinity'));
  last.samples.push({ name, labels: labels === undefined ? {} : readLabels(labels), value });
}

function readMetadata(draft: Draft, keyword: string, rest: string, format: Format): void {
  if (keyword === 'TYPE') {
    assertThat(draft.type === undefined, `${draft.name} has one TYPE`);
    draft.type = rest;
  } else if (keyword === 'HELP') {
    assertThat(draft.help === undefined, `${draft.name} has one HELP`);
    draft.help = unescape(rest, format === 'text' ? '\\n' : '\\n"');
    if (format === 'openmetrics')
      assertThat(!/(?<!\\)(?:\\\\)*"/.test(rest), `quotes are escaped in ${rest}`);
  } else {
    assertThat(format === 'openmetrics' && draft.unit === undefined, `${draft.name} has one UNIT`);
    draft.unit = rest;
  }
}

/** A cache of label sets by their text, because tests parse many expositions with nearly the same series. */
const labelSets = new Map<string, Record<string, string>>();
const MAX_LABEL_SETS = 50_000;

function readLabels(text: string): Record<string, string> {
  const known = labelSets.get(text);
  if (known !== undefined) return known;
  const labels = parseLabels(text);
  if (labelSets.size >= MAX_LABEL_SETS) labelSets.clear();
  labelSets.set(text, labels);
  return labels;
}

function parseLabels(text: string): Record<string, string> {
  const labels = new Map<string, string>();
  const pair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\.)*)"(,(?=.)|$)/sy;
  while (pair.lastIndex < text.length) {
    const start = pair.lastIndex;
    const [, name = '', value = ''] = pair.exec(text) ?? [];
    assertThat(name !== '', `these are labels: ${JSON.stringify(text.slice(start))}`);
    assertThat(!labels.has(name), `label ${name} occurs once`);
    labels.set(name, unescape(value, '\\n"'));
  }
  return Object.fromEntries(labels);
}

function unescape(text: string, allowed: string): string {
  return text.replaceAll(/\\(.?)/gs, (escape, char: string) => {
    assertThat(
      char !== '' && allowed.includes(char),
      `${escape} is a valid escape in ${JSON.stringify(text)}`,
    );
    return char === 'n' ? '\n' : char;
  });
}

function finishFamily(draft: Draft, format: Format, owners: Map<string, string>): ParsedFamily {
  const { name, type, help, unit, samples } = draft;
  assertThat(type !== undefined && help !== undefined, `${name} has TYPE and HELP`);
  assertThat(samples.length > 0, `${name} has samples`);
  assertThat(
    unit === undefined || (name.endsWith(`_${unit}`) && type !== 'info'),
    `${name} ends in its unit`,
  );
  const suffixes = SUFFIXES[format][type];
  assertThat(suffixes !== undefined, `${type} is a valid type`);
  for (const sampleName of new Set([name, ...suffixes.map((suffix) => name + suffix)])) {
    assertThat(!owners.has(sampleName), `${sampleName} belongs to one family`);
    owners.set(sampleName, name);
  }
  checkSamples(draft, type, suffixes);
  if (type === 'histogram') for (const group of groupByMetric(samples)) checkHistogram(name, group, format);
  return { type, help, unit, samples };
}

function checkSamples({ name, samples }: Draft, type: string, suffixes: readonly string[]): void {
  const seen = new Set<string>();
  for (const sample of samples) {
    assertThat(
      suffixes.some((suffix) => sample.name === name + suffix),
      `${sample.name} belongs to ${type} ${name}`,
    );
    assertThat(
      'le' in sample.labels === sample.name.endsWith('_bucket'),
      `only buckets have the label le: ${name}`,
    );
    const key = sample.name + formatLabels(sample.labels);
    assertThat(!seen.has(key), `${key} occurs once`);
    seen.add(key);
    if (type === 'info') assertThat(sample.value === 1, `${name} is 1`);
    if (type === 'counter') assertThat(sample.value >= 0, `${name} is not negative`);
  }
  groupByMetric(samples);
}

/** Formats a label set, independent of the order of its labels. */
function formatLabels(labels: Readonly<Record<string, string>>, omitted?: string): string {
  const shown = Object.entries(labels).filter(([label]) => label !== omitted);
  return JSON.stringify(shown.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Groups the samples of a family by metric, that is by label set. Throws if two metrics interleave. */
function groupByMetric(samples: readonly ParsedSample[]): readonly (readonly ParsedSample[])[] {
  const groups = new Map<string, ParsedSample[]>();
  let lastKey: string | undefined;
  for (const sample of samples) {
    // The buckets of one metric differ in it.
    const key = formatLabels(sample.labels, 'le');
    const group = groups.get(key) ?? [];
    assertThat(key === lastKey || group.length === 0, `${sample.name} ${key} does not interleave`);
    group.push(sample);
    groups.set(key, group);
    lastKey = key;
  }
  return [...groups.values()];
}

function checkHistogram(name: string, group: readonly ParsedSample[], format: Format): void {
  const buckets = group.filter((sample) => sample.name === `${name}_bucket`);
  const count = group.find((sample) => sample.name === `${name}_count`);
  assertThat(
    group.some((sample) => sample.name === `${name}_sum`),
    `${name} has a sum`,
  );
  assertThat(buckets.at(-1)?.labels['le'] === '+Inf', `the last bucket of ${name} is +Inf`);
  assertThat(count?.value === buckets.at(-1)?.value, `the count of ${name} is its +Inf bucket`);
  let [bound, below] = [-Infinity, 0];
  for (const { labels, value } of buckets) {
    const le = labels['le'] ?? '';
    assertThat(NUMBER.test(le), `le ${le} is a number`);
    if (format === 'openmetrics') assertThat(/[.e]|Inf/.test(le), `le ${le} is a canonical float`);
    const next = Number(le.replace('Inf', 'Infinity'));
    assertThat(next > bound && value >= below, `the bucket counts of ${name} never decrease`);
    [bound, below] = [next, value];
  }
}
