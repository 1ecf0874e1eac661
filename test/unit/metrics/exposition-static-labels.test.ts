import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CATALOGUE } from '../../../src/metrics/catalogue/catalogue.ts';
import { Exposition } from '../../../src/metrics/exposition/exposition.ts';
import type { Family, FamilySpec, Sample } from '../../../src/metrics/catalogue/family.ts';
import { parseExposition } from '../../support/exposition-parser.ts';
import { render } from '../../support/render.ts';

const SPECS: readonly FamilySpec[] = Object.values(CATALOGUE);
const value = fc.string({ unit: 'grapheme', maxLength: 8 });

const family = fc.constantFrom(...SPECS).chain((spec): fc.Arbitrary<Family> => {
  const labels = fc.tuple(...spec.labels.map(() => value));
  const sample: fc.Arbitrary<Sample> = fc.record({ labels, number: fc.nat() }).map((drawn) => {
    // An info is always 1.
    const number = spec.type === 'info' ? 1 : drawn.number;
    if (spec.type !== 'histogram') return { labels: drawn.labels, value: number };
    return {
      labels: drawn.labels,
      buckets: Array.from({ length: (spec.buckets?.length ?? 0) + 1 }, () => number),
      sum: number,
    };
  });
  const unique = { selector: (one: Sample) => JSON.stringify(one.labels), minLength: 1, maxLength: 3 };
  return fc.uniqueArray(sample, unique).map((samples) => ({ spec, samples }));
});

const names = fc.uniqueArray(fc.constantFrom('env', 'region', 'team', 'tenant'), { maxLength: 4 });
const staticLabels = names.chain((some) => fc.record(Object.fromEntries(some.map((name) => [name, value]))));

for (const format of ['text', 'openmetrics'] as const) {
  test(`in ${format}, static labels are added after the labels of each sample`, () => {
    fc.assert(
      fc.property(family, staticLabels, (plain, labels) => {
        const without = parseExposition(render([plain], format), format).families;
        const labelled = parseExposition(
          render([{ ...plain, staticLabels: labels }], format),
          format,
        ).families;
        for (const [name, { samples }] of without) {
          const expected = samples.map((sample) => ({ ...sample, labels: { ...sample.labels, ...labels } }));
          assert.deepEqual(labelled.get(name)?.samples, expected);
        }
        assert.equal(labelled.size, without.size);
      }),
    );
  });
}

const POLLS: Family = { spec: CATALOGUE.polls, samples: [{ labels: ['A'], value: 3 }] };
const DURATION: Family = {
  spec: { ...CATALOGUE.taskLifetime, buckets: [1] },
  samples: [{ labels: ['A'], buckets: [1, 2], sum: 5 }],
};
const LABELS = { env: 'a"b', tenant: 'acme' };

test('static labels come after those of the family and before le', () => {
  const text = render(
    [POLLS, DURATION].map((one) => ({ ...one, staticLabels: LABELS })),
    'openmetrics',
  );
  assert.deepEqual(
    text.split('\n').filter((line) => !line.startsWith('#') && line !== ''),
    [
      String.raw`xvs_exporter_polls_total{service_code="A",env="a\"b",tenant="acme"} 3`,
      String.raw`xvs_task_lifetime_seconds_bucket{service_code="A",env="a\"b",tenant="acme",le="1.0"} 1`,
      String.raw`xvs_task_lifetime_seconds_bucket{service_code="A",env="a\"b",tenant="acme",le="+Inf"} 2`,
      String.raw`xvs_task_lifetime_seconds_sum{service_code="A",env="a\"b",tenant="acme"} 5`,
      String.raw`xvs_task_lifetime_seconds_count{service_code="A",env="a\"b",tenant="acme"} 2`,
    ],
  );
});

test('changed static labels invalidate the render cache of both formats', () => {
  const exposition = new Exposition();
  for (const labels of [undefined, { tenant: 'acme' }, { tenant: 'globex' }, undefined]) {
    for (const format of ['text', 'openmetrics', 'text'] as const) {
      const one = labels === undefined ? POLLS : { ...POLLS, staticLabels: labels };
      assert.equal(exposition.render([one], format).toString(), render([one], format));
    }
  }
});
