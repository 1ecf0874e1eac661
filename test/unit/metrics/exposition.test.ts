import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { CATALOGUE } from '../../../src/metrics/catalogue/catalogue.ts';
import { countSeries, Exposition } from '../../../src/metrics/exposition/exposition.ts';
import { arbitraryText } from '../../support/arbitrary-text.ts';
import { render } from '../../support/render.ts';
import type { ExpositionFormat } from '../../../src/metrics/exposition/exposition-lines.ts';
import type { Family, FamilySpec, Sample } from '../../../src/metrics/catalogue/family.ts';
import { listSamples } from '../../support/samples.ts';
import { parseExposition } from '../../support/exposition-parser.ts';
import type { ParsedFamily, ParsedSample } from '../../support/exposition-parser.ts';
import { assertGolden } from '../../support/fixtures.ts';
import { assertPromtoolAccepts } from '../../support/installed-programs.ts';

const FORMATS = ['text', 'openmetrics'] as const;

const EVERY_KIND: readonly Family[] = [
  {
    spec: { name: 'a_gauge', type: 'gauge', help: 'Says "hi" \\ and\nbreaks.', labels: [] },
    samples: [{ labels: [], value: -0.5 }],
  },
  {
    spec: { name: 'hostile', type: 'gauge', help: 'Label values.', labels: ['x', 'y'] },
    samples: [
      { labels: ['back\\slash', 'quo"te'], value: Number.NaN },
      { labels: ['line\nfeed', 'carriage\rreturn'], value: Infinity },
      { labels: ['} 1', ',y="'], value: -Infinity },
      { labels: ['', '日本 👩‍🚀'], value: 1e21 },
    ],
  },
  {
    spec: { name: 'in_bytes_total', type: 'counter', help: 'Bytes.', labels: ['vs_id'] },
    samples: [
      { labels: ['vs1'], value: 9007199254740991 },
      { labels: ['vs2'], value: 0 },
    ],
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
    samples: [{ labels: ['1.2.3'], value: 1 }],
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

test('a cached part is rendered the same beside new parts, in both formats', () => {
  const exposition = new Exposition();
  const renderParts = (parts: readonly Family[], format: ExpositionFormat): string =>
    exposition.renderBody('everything', parts, format).bytes.toString();
  const { up } = CATALOGUE;
  const part = (code: string, value: number): Family => ({ spec: up, samples: [{ labels: [code], value }] });
  const cached = part('A', 1);
  for (const format of FORMATS) {
    const first = renderParts([cached, part('B', 1)], format);
    const second = renderParts([cached, part('B', 0)], format);
    assert.equal(second, first.replace('service_code="B"} 1', 'service_code="B"} 0'));
    parseExposition(second, format);
  }
});

test('a column of rows is rendered and counted like samples, without what is no number', () => {
  const label = arbitraryText();
  const sampleFields = fc.record({
    labels: fc.tuple(label, label),
    value: fc.oneof(fc.double(), fc.integer(), fc.constant(Number.NaN)),
  });
  fc.assert(
    fc.property(label, fc.array(sampleFields), fc.boolean(), label, (serviceCode, all, isCounter, tenant) => {
      const labelSets = all.map(({ labels }) => labels);
      const samples = { serviceCode, labelSets, numbers: all.map(({ value }) => value) };
      const spec = isCounter ? CATALOGUE.httpOutputBytes : CATALOGUE.outputs;
      const inColumn = { spec, samples, staticLabels: { tenant } };
      const inSamples = { ...inColumn, samples: listSamples(samples) };
      assert.equal(countSeries([inColumn]), countSeries([inSamples]));
      for (const format of FORMATS) assert.equal(render([inColumn], format), render([inSamples], format));
    }),
  );
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
    return { spec, samples: [spec.type === 'histogram' ? histogram : { labels, value: 1 }] };
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
  const outline = fc.record({ type: kind, unit: fc.boolean(), labels: fc.nat(3), help: labelValue() });
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
}): fc.Arbitrary<Family> {
  const { index, type, help } = outline;
  const hasUnit = outline.unit && type !== 'info';
  const suffix = { gauge: '', counter: '_total', histogram: '', info: '_info' }[type];
  const buckets =
    type === 'histogram'
      ? fc.uniqueArray(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 4 })
      : fc.constant([]);
  return buckets
    .map((bounds) => [...new Set(bounds.map((bound) => bound + 0))].toSorted((a, b) => a - b))
    .chain((bounds) => {
      const spec: FamilySpec = {
        name: `f${index}${hasUnit ? '_bytes' : ''}${suffix}`,
        type,
        help,
        labels: ['a', 'b_2', '_c'].slice(0, outline.labels),
        ...(type === 'histogram' ? { buckets: bounds } : {}),
      };
      return fc
        .uniqueArray(sample(spec), {
          maxLength: 4,
          selector: ({ labels }) => JSON.stringify(labels.map((value) => value.toWellFormed())),
        })
        .map((samples) => ({ spec, samples }));
    });
}

function sample(spec: FamilySpec): fc.Arbitrary<Sample> {
  const labels = fc.tuple(...spec.labels.map(labelValue));
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

/** Computes the expected parse result independently of the renderer. */
function parseExpected(input: readonly Family[], format: ExpositionFormat): Map<string, ParsedFamily> {
  const filled = input.filter(({ samples }) => listSamples(samples).length > 0);
  return new Map(
    filled.map(({ spec, samples }) => {
      const stripped = { counter: /_total$/, info: /_info$/, gauge: /$^/, histogram: /$^/ }[spec.type];
      const name = format === 'text' ? spec.name : spec.name.replace(stripped, '');
      return [
        name,
        {
          type: format === 'text' && spec.type === 'info' ? 'gauge' : spec.type,
          help: spec.help.toWellFormed(),
          unit: format === 'text' ? undefined : /_(bytes|seconds)$/.exec(name)?.[1],
          samples: listSamples(samples).flatMap((each) => expectedSamples(name, spec, each, format)),
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
