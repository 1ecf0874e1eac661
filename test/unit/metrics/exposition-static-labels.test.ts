import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import { columnOf, type Family } from '../../../src/listing/family.ts';
import { render } from '../../support/render.ts';

const POLLS: Family = { spec: CATALOGUE.polls, samples: columnOf(3), serviceCode: 'A' };
const DURATION: Family = {
  spec: { ...CATALOGUE.taskLifetime, buckets: [1] },
  samples: [{ labels: [], buckets: [1, 2], sum: 5 }],
  serviceCode: 'A',
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
