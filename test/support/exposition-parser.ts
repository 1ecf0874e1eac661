/**
 * A strict reader of expositions, written from the formats and not from the renderer. It takes what this
 * exporter may write and rejects the rest: timestamps, exemplars, blank lines, comments, needless escapes.
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
  /** By the name on the metadata lines. */
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
    counter: ['_total', '_created'],
    histogram: ['_bucket', '_sum', '_count', '_created'],
  },
};

/** Reads an exposition; throws an `Error` that quotes the line at fault. */
export function parseExposition(text: string, format: Format): Exposition {
  const drafts: Draft[] = [];
  for (const line of linesOf(text, format)) readLine(line, drafts, format);
  const families = new Map<string, ParsedFamily>();
  const owners = new Map<string, string>();
  for (const draft of drafts) {
    expect(!families.has(draft.name), `family ${draft.name} comes once`);
    families.set(draft.name, finish(draft, format, owners));
  }
  return { families };
}

function expect(condition: boolean, expectation: string): asserts condition {
  if (!condition) throw new Error(`Expected that ${expectation}`);
}

function linesOf(text: string, format: Format): readonly string[] {
  const lines = text.split('\n');
  expect(lines.pop() === '', 'the text ends in a line feed');
  if (format === 'openmetrics') expect(lines.pop() === '# EOF', 'the last line is # EOF');
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
  expect(NUMBER.test(number), `this is a sample line: ${JSON.stringify(line)}`);
  expect(last !== undefined, `metadata stands before ${name}`);
  const value = Number(number.replace('Inf', 'Infinity'));
  last.samples.push({ name, labels: labels === undefined ? {} : readLabels(labels), value });
}

function readMetadata(draft: Draft, keyword: string, rest: string, format: Format): void {
  if (keyword === 'TYPE') {
    expect(draft.type === undefined, `${draft.name} has one TYPE`);
    draft.type = rest;
  } else if (keyword === 'HELP') {
    expect(draft.help === undefined, `${draft.name} has one HELP`);
    draft.help = unescape(rest, format === 'text' ? '\\n' : '\\n"');
    if (format === 'openmetrics') expect(!/(?<!\\)(?:\\\\)*"/.test(rest), `quotes are escaped in ${rest}`);
  } else {
    expect(format === 'openmetrics' && draft.unit === undefined, `${draft.name} has one UNIT`);
    draft.unit = rest;
  }
}

function readLabels(text: string): Record<string, string> {
  const labels = new Map<string, string>();
  const pair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\.)*)"(,(?=.)|$)/sy;
  while (pair.lastIndex < text.length) {
    const start = pair.lastIndex;
    const [, name = '', value = ''] = pair.exec(text) ?? [];
    expect(name !== '', `these are labels: ${JSON.stringify(text.slice(start))}`);
    expect(!labels.has(name), `label ${name} comes once`);
    labels.set(name, unescape(value, '\\n"'));
  }
  return Object.fromEntries(labels);
}

function unescape(text: string, allowed: string): string {
  return text.replaceAll(/\\(.?)/gs, (escape, char: string) => {
    expect(char !== '' && allowed.includes(char), `${escape} is an escape, in ${JSON.stringify(text)}`);
    return char === 'n' ? '\n' : char;
  });
}

function finish(draft: Draft, format: Format, owners: Map<string, string>): ParsedFamily {
  const { name, type, help, unit, samples } = draft;
  expect(type !== undefined && help !== undefined, `${name} has TYPE and HELP`);
  expect(samples.length > 0, `${name} has samples`);
  expect(unit === undefined || (name.endsWith(`_${unit}`) && type !== 'info'), `${name} ends in its unit`);
  const suffixes = SUFFIXES[format][type];
  expect(suffixes !== undefined, `${type} is a type`);
  for (const sampleName of new Set([name, ...suffixes.map((suffix) => name + suffix)])) {
    expect(!owners.has(sampleName), `${sampleName} belongs to one family`);
    owners.set(sampleName, name);
  }
  checkSamples(draft, type, suffixes);
  if (type === 'histogram') for (const group of groupsOf(samples)) checkHistogram(name, group, format);
  return { type, help, unit, samples };
}

function checkSamples({ name, samples }: Draft, type: string, suffixes: readonly string[]): void {
  const seen = new Set<string>();
  for (const sample of samples) {
    expect(
      suffixes.some((suffix) => sample.name === name + suffix),
      `${sample.name} belongs to ${type} ${name}`,
    );
    expect('le' in sample.labels === sample.name.endsWith('_bucket'), `le is on buckets alone: ${name}`);
    const key = sample.name + keyOf(Object.entries(sample.labels));
    expect(!seen.has(key), `${key} comes once`);
    seen.add(key);
    if (type === 'info') expect(sample.value === 1, `${name} is 1`);
    if (type === 'counter') expect(sample.value >= 0, `${name} is not negative`);
  }
  groupsOf(samples);
}

/** A label set as a string, whatever the order of its labels. */
function keyOf(labels: readonly (readonly [string, string])[]): string {
  return JSON.stringify(labels.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The samples of each metric, a label set of a family; throws where two metrics interleave. */
function groupsOf(samples: readonly ParsedSample[]): readonly (readonly ParsedSample[])[] {
  const groups = new Map<string, ParsedSample[]>();
  let lastKey: string | undefined;
  for (const sample of samples) {
    const labels = Object.entries(sample.labels).filter(([label]) => label !== 'le');
    const key = keyOf(labels);
    const group = groups.get(key) ?? [];
    expect(key === lastKey || group.length === 0, `${sample.name} ${key} does not interleave`);
    group.push(sample);
    groups.set(key, group);
    lastKey = key;
  }
  return [...groups.values()];
}

function checkHistogram(name: string, group: readonly ParsedSample[], format: Format): void {
  const buckets = group.filter((sample) => sample.name === `${name}_bucket`);
  const count = group.find((sample) => sample.name === `${name}_count`);
  expect(
    group.some((sample) => sample.name === `${name}_sum`),
    `${name} has a sum`,
  );
  expect(buckets.at(-1)?.labels['le'] === '+Inf', `the last bucket of ${name} is +Inf`);
  expect(count?.value === buckets.at(-1)?.value, `the count of ${name} is its +Inf bucket`);
  let [bound, below] = [-Infinity, 0];
  for (const { labels, value } of buckets) {
    const le = labels['le'] ?? '';
    expect(NUMBER.test(le), `le ${le} is a number`);
    if (format === 'openmetrics') expect(/[.e]|Inf/.test(le), `le ${le} is a canonical float`);
    const next = Number(le.replace('Inf', 'Infinity'));
    expect(next > bound && value >= below, `the buckets of ${name} grow`);
    [bound, below] = [next, value];
  }
}
