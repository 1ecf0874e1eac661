import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { CATALOGUE } from '../../../src/metrics/catalogue/catalogue.ts';
import { countSeries } from '../../../src/metrics/exposition/exposition.ts';
import { arbitraryText } from '../../support/arbitrary-text.ts';
import { render } from '../../support/render.ts';
import type { ExpositionFormat } from '../../../src/metrics/exposition/exposition-lines.ts';
import {
  columnByLabel,
  columnOf,
  type Family,
  type FamilySpec,
} from '../../../src/metrics/catalogue/family.ts';
import { listSamples, type Sample } from '../../support/samples.ts';
import { parseExposition } from '../../support/exposition-parser.ts';
import type { ParsedFamily, ParsedSample } from '../../support/exposition-parser.ts';
import { assertGolden } from '../../support/fixtures.ts';
import { assertPromtoolAccepts } from '../../support/installed-programs.ts';

const FORMATS = ['text', 'openmetrics'] as const;

const EVERY_KIND: readonly Family[] = [
  {
    spec: { name: 'a_gauge', type: 'gauge', help: 'Says "hi" \\ and\nbreaks.', labels: [] },
    samples: columnOf(-0.5),
  },
  {
    spec: { name: 'hostile', type: 'gauge', help: 'Label values.', labels: ['x', 'y'] },
    samples: {
      labelSets: [
        ['no', 'number'],
        ['back\\slash', 'quo"te'],
        ['line\nfeed', 'carriage\rreturn'],
        ['} 1', ',y="'],
        ['', '日本 👩‍🚀'],
      ],
      numbers: [Number.NaN, 0, Infinity, -Infinity, 1e21],
    },
  },
  {
    spec: { name: 'in_bytes_total', type: 'counter', help: 'Bytes.', labels: ['vs_id'] },
    samples: columnByLabel([
      ['vs1', 9007199254740991],
      ['vs2', 0],
    ]),
  },
  { spec: { name: 'empty', type: 'gauge', help: 'No samples.', labels: [] }, samples: [] },
  {
    spec: {
      name: 'life_seconds',
      type: 'histogram',
      help: 'A histogram.',
      labels: ['code'],
      buckets: [0.00001, 0.25, 1, 86400, 1000000],
    },
    samples: [{ labels: ['A'], buckets: [0, 1, 2, 2, 3, 4], sum: 1e7 }],
  },
  {
    spec: { name: 'bare', type: 'histogram', help: 'No labels.', labels: [], buckets: [1] },
    samples: [{ labels: [], buckets: [0, 0], sum: 0 }],
  },
  {
    spec: { name: 'build_info', type: 'info', help: 'Build.', labels: ['version'] },
    samples: columnByLabel([['1.2.3', 1]]),
  },
];

for (const format of FORMATS) {
  test(`families of every type are rendered in ${format}`, () => {
    const text = render(EVERY_KIND, format);
    assertGolden(`exposition/every-kind.${format}.txt`, text);
    parseExposition(text, format);
  });

  test(`an empty exposition is valid in ${format}`, () => {
    assert.equal(render([], format), format === 'text' ? '' : '# EOF\n');
  });

  test(`a strict parser reads back every exposition in ${format}`, () => {
    fc.assert(
      fc.property(families(), (input) => {
        const text = render(input, format);
        assert.deepEqual(parseExposition(text, format).families, parseExpected(input, format));
      }),
    );
  });

  test(`the whole catalogue is a valid exposition in ${format}`, () => {
    assert.equal(
      parseExposition(render(oneSampleEach(), format), format).families.size,
      oneSampleEach().length,
    );
  });
}

test('promtool accepts the catalogue', (t) => {
  assertPromtoolAccepts(t, render(oneSampleEach(), 'text'));
});

test('the series count equals the number of sample lines in text 0.0.4', () => {
  fc.assert(
    fc.property(families(), (input) => {
      const lines = render(input, 'text').split('\n');
      assert.equal(countSeries(input), lines.filter((line) => line !== '' && !line.startsWith('#')).length);
    }),
  );
});

function oneSampleEach(): Family[] {
  return Object.values<FamilySpec>(CATALOGUE).map((spec) => {
    const labels = spec.labels.map((label) => `some ${label}`);
    const histogram = {
      labels,
      buckets: [...(spec.buckets ?? []), Infinity].map((_, index) => index),
      sum: 3,
    };
    return { spec, samples: spec.type === 'histogram' ? [histogram] : { labelSets: [labels], numbers: [1] } };
  });
}

/** Hostile label values: any UTF-16, with a preference for characters that the formats treat specially. */
function labelValue(): fc.Arbitrary<string> {
  const hostile = [
    '\\',
    '"',
    '\n',
    '\r',
    '\0',
    '{',
    '}',
    ',',
    '=',
    ' ',
    '# EOF',
    '\\n',
    '\ud800',
    '\udfff',
    '\u2028',
  ];
  const piece = fc.oneof(fc.constantFrom(...hostile), arbitraryText(5));
  return fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''));
}

function families(): fc.Arbitrary<Family[]> {
  const kind = fc.constantFrom('gauge' as const, 'counter' as const, 'histogram' as const, 'info' as const);
  const outline = fc.record({
    type: kind,
    unit: fc.boolean(),
    labels: fc.nat(3),
    help: labelValue(),
    serviceCode: fc.option(labelValue(), { nil: undefined }),
  });
  return fc
    .array(outline, { maxLength: 5 })
    .chain((outlines) => fc.tuple(...outlines.map((each, index) => family({ ...each, index }))));
}

function family(outline: {
  index: number;
  type: FamilySpec['type'];
  unit: boolean;
  labels: number;
  help: string;
  serviceCode: string | undefined;
}): fc.Arbitrary<Family> {
  const { index, type, help, serviceCode } = outline;
  const hasUnit = outline.unit && type !== 'info';
  const suffix = { gauge: '', counter: '_total', histogram: '', info: '_info' }[type];
  const buckets =
    type === 'histogram'
      ? fc.uniqueArray(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 4 })
      : fc.constant([]);
  const labels = ['a', 'b_2', '_c'].slice(0, outline.labels);
  return buckets
    .map((bounds) => [...new Set(bounds.map((bound) => bound + 0))].toSorted((a, b) => a - b))
    .chain((bounds) => {
      const spec: FamilySpec = {
        name: `f${index}${hasUnit ? '_bytes' : ''}${suffix}`,
        type,
        help,
        labels: serviceCode === undefined ? labels : ['service_code', ...labels],
        ...(type === 'histogram' ? { buckets: bounds } : {}),
      };
      return fc
        .uniqueArray(sample(spec, labels.length), {
          maxLength: 4,
          selector: (one) => JSON.stringify(one.labels.map((value) => value.toWellFormed())),
        })
        .map((samples) => ({
          spec,
          samples: toSamples(samples),
          ...(serviceCode === undefined ? {} : { serviceCode }),
        }));
    });
}

function sample(spec: FamilySpec, labelCount: number): fc.Arbitrary<Sample> {
  const labels = fc.array(labelValue(), { minLength: labelCount, maxLength: labelCount });
  if (spec.type === 'histogram') {
    const size = (spec.buckets?.length ?? 0) + 1;
    const counts = fc
      .array(fc.nat(), { minLength: size, maxLength: size })
      .map((all) => all.toSorted((a, b) => a - b));
    return fc.record({ labels, buckets: counts, sum: fc.double() });
  }
  const value = { gauge: fc.double(), counter: fc.double({ min: 0, noNaN: true }), info: fc.constant(1) }[
    spec.type
  ];
  return fc.record({ labels, value });
}

function toSamples(samples: readonly Sample[]): Family['samples'] {
  const histograms = samples.filter((one) => 'buckets' in one);
  const plain = samples.filter((one) => 'value' in one);
  if (histograms.length > 0) return histograms;
  return { labelSets: plain.map(({ labels }) => labels), numbers: plain.map(({ value }) => value) };
}

/** Computes the expected parse result independently of the renderer. */
function parseExpected(input: readonly Family[], format: ExpositionFormat): Map<string, ParsedFamily> {
  const filled = input.filter((one) => listSamples(one).length > 0);
  return new Map(
    filled.map((one) => {
      const { spec } = one;
      const stripped = { counter: /_total$/, info: /_info$/, gauge: /$^/, histogram: /$^/ }[spec.type];
      const name = format === 'text' ? spec.name : spec.name.replace(stripped, '');
      return [
        name,
        {
          type: format === 'text' && spec.type === 'info' ? 'gauge' : spec.type,
          help: spec.help.toWellFormed(),
          unit: format === 'text' ? undefined : /_(bytes|seconds)$/.exec(name)?.[1],
          samples: listSamples(one).flatMap((each) => expectedSamples(name, spec, each, format)),
        },
      ];
    }),
  );
}

function expectedSamples(
  name: string,
  spec: FamilySpec,
  each: Sample,
  format: ExpositionFormat,
): readonly ParsedSample[] {
  const labels = Object.fromEntries(
    spec.labels.map((label, i) => [label, each.labels[i]?.toWellFormed() ?? '']),
  );
  const create = (sampleName: string, value: number, more = {}): ParsedSample => ({
    name: sampleName,
    labels: { ...labels, ...more },
    value: value + 0,
  });
  if (!('buckets' in each)) return [create(spec.name, each.value)];
  const bounds = [...(spec.buckets ?? []).map((bound) => formatBound(bound, format)), '+Inf'];
  return [
    ...bounds.map((bound, i) => create(`${name}_bucket`, each.buckets[i] ?? Number.NaN, { le: bound })),
    create(`${name}_sum`, each.sum),
    create(`${name}_count`, each.buckets.at(-1) ?? Number.NaN),
  ];
}

function formatBound(bound: number, format: ExpositionFormat): string {
  if (format === 'text') return String(bound);
  const [digits = '', exponent = ''] = bound.toExponential().split('e');
  const fixed = String(bound);
  if (Number(exponent) >= -4 && Number(exponent) < 6) return fixed.includes('.') ? fixed : `${fixed}.0`;
  return `${digits}e${exponent.slice(0, 1)}${exponent.slice(1).padStart(2, '0')}`;
}
