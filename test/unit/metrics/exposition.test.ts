import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import { renderBlocks } from '../../../src/metrics/exposition.ts';
import { arbitraryText } from '../../support/arbitrary-text.ts';
import { render } from '../../support/render.ts';
import {
  columnByLabel,
  columnOf,
  countSeries,
  type Family,
  type FamilySpec,
} from '../../../src/families/family.ts';
import { parseExposition } from '../../support/exposition-parser.ts';
import { assertGolden } from '../../support/fixtures.ts';
import { assertPromtoolAccepts } from '../../support/installed-programs.ts';

const FORMATS = ['text', 'openmetrics'] as const;

/** Static labels come after those of the family and before `le`. */
const OF_A_CODE = { serviceCode: 'A', staticLabels: { env: 'a"b', tenant: 'acme' } };

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
    spec: { name: 'in_bytes_total', type: 'counter', help: 'Bytes.', labels: ['service_code', 'vs_id'] },
    samples: columnByLabel([
      ['vs1', 9007199254740991],
      ['vs2', 0],
    ]),
    ...OF_A_CODE,
  },
  { spec: { name: 'empty', type: 'gauge', help: 'No samples.', labels: [] }, samples: [] },
  {
    spec: {
      name: 'life_seconds',
      type: 'histogram',
      help: 'A histogram.',
      labels: ['service_code', 'code'],
      buckets: [0.00001, 0.25, 1, 86400, 1000000],
    },
    samples: [{ labels: ['A'], buckets: [0, 1, 2, 2, 3, 4], sum: 1e7 }],
    ...OF_A_CODE,
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

  test(`a strict parser reads back hostile texts and any finite number in ${format}`, () => {
    fc.assert(
      fc.property(labelValue(), labelValue(), samples(), (help, serviceCode, rows) => {
        const spec: FamilySpec = {
          name: 'f_bytes',
          type: 'gauge',
          help,
          labels: ['service_code', 'a', 'b_2'],
        };
        const labelSets = rows.map(({ labels }) => labels);
        const numbers = rows.map(({ value }) => value);
        const text = render([{ spec, serviceCode, samples: { labelSets, numbers } }], format);
        assert.deepEqual(parseExposition(text, format).families.get(spec.name), {
          type: 'gauge',
          help: help.toWellFormed(),
          unit: format === 'text' ? undefined : 'bytes',
          samples: rows.map(({ labels, value }) => {
            const [code, a, b] = [serviceCode, ...labels].map((label) => label.toWellFormed());
            return { name: spec.name, labels: { service_code: code, a, b_2: b }, value: value + 0 };
          }),
        });
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

test('a family whose numbers are all absent is left out', () => {
  const spec: FamilySpec = { name: 'absent', type: 'gauge', help: 'Absent.', labels: ['x'] };
  assert.equal(render([{ spec, samples: columnByLabel([['a', Number.NaN]]) }], 'text'), '');
});

test('promtool accepts the catalogue', (t) => {
  assertPromtoolAccepts(t, render(oneSampleEach(), 'text'));
});

test('the series count equals the number of sample lines in text 0.0.4', () => {
  for (const families of [EVERY_KIND, oneSampleEach()]) {
    const lines = render(families, 'text').split('\n');
    const series = families.reduce((sum, family) => sum + countSeries(family), 0);
    assert.equal(series, lines.filter((line) => line !== '' && !line.startsWith('#')).length);
  }
});

test('large bodies come in blocks, between lines, whatever length a line has', () => {
  const values = ['', 'é'.repeat(300_000), ...Array.from({ length: 20_000 }, (_, index) => `value ${index}`)];
  const spec: FamilySpec = { name: 'large', type: 'gauge', help: 'Large.', labels: ['x'] };
  const family = { spec, samples: columnByLabel(values.map((value) => [value, 1])) };
  const blocks = [...renderBlocks([family], 'text')].map(String);
  const lines = values.map((value) => `large{x="${value}"} 1\n`);
  assert.equal(blocks.join(''), `# HELP large Large.\n# TYPE large gauge\n${lines.join('')}`);
  assert.ok(blocks.length > 1 && blocks.every((block) => block.endsWith('\n')));
});

test('the first block is about as large as the last body', () => {
  const spec: FamilySpec = { name: 'f', type: 'gauge', help: 'F.', labels: ['x'] };
  const family = { spec, samples: columnByLabel([['x'.repeat(200_000), 1]]) };
  const last = { bytes: 200_000 };
  const measureFirst = (families: readonly Family[]) =>
    [...renderBlocks(families, 'text', last)][0]?.buffer.byteLength ?? Number.NaN;
  assert.ok(measureFirst([]) > 200_000);
  assert.ok(measureFirst([]) < 100_000);
  measureFirst([family]);
  assert.ok(last.bytes > 200_000);
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

/** Samples of a gauge with two labels. */
function samples() {
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
  const one = fc.record({ labels: fc.tuple(labelValue(), labelValue()), value: finite });
  const selector = ({ labels }: { readonly labels: readonly string[] }): string =>
    JSON.stringify(labels.map((label) => label.toWellFormed()));
  return fc.uniqueArray(one, { minLength: 1, maxLength: 4, selector });
}
