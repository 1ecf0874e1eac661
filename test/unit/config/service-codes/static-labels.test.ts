import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExporterMetrics } from '../../../../src/metrics/exporter-metrics.ts';
import { readAlertRules } from '../../../support/deploy-files.ts';
import { loadConfiguration, catchConfigErrorMessage, SECRET } from '../../../support/configuration.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const withLabels = (labels: string): string =>
  `upstream: { base_url: "https://h" }\nsecret: ${SECRET}\nservice_codes:\n  - service_code: A\n    labels: ${labels}`;

test('labels are sorted by name', async () => {
  const { serviceCodes } = await loadConfiguration({
    yml: withLabels('{ tenant: Ärger & "Co", env: production, _x: "1" }'),
  });
  assert.deepEqual(Object.entries(serviceCodes[0]?.labels ?? {}), [
    ['_x', '1'],
    ['env', 'production'],
    ['tenant', 'Ärger & "Co"'],
  ]);
});

const TEXT = 'expected a string of 1 to 128 characters without control characters';
const NAME = 'expected a label name of letters, digits and "_" that is not reserved';
const RESERVED =
  'reserved are labels of metrics, those that Prometheus and the rules add, and names that start with "__"';

/** Labels and the message about them. */
const INVALID_LABELS: readonly [string, string][] = [
  ['[tenant]', '5:13 service_codes[0].labels: expected a mapping of label names to strings, found a list'],
  ['', '5:5 service_codes[0].labels: expected a mapping of label names to strings, found no value'],
  ['{ tenant: yes, env: true }', `5:33 service_codes[0].labels.env: ${TEXT}, found true; put it in quotes`],
  ['{ tenant: { toString: a } }', `5:23 service_codes[0].labels.tenant: ${TEXT}, found a mapping`],
  ['{ tenant: "a\\nb" }', `5:23 service_codes[0].labels.tenant: ${TEXT}, found "a\\nb"`],
  [
    `{ tenant: ${'x'.repeat(129)} }`,
    `5:23 service_codes[0].labels.tenant: ${TEXT}, found "${'x'.repeat(129)}"`,
  ],
  ['{ te-nant: a }', `5:15 service_codes[0].labels.te-nant: ${NAME}, found "te-nant"; ${RESERVED}`],
  ['{ vs_id: a }', `5:15 service_codes[0].labels.vs_id: ${NAME}, found "vs_id"; ${RESERVED}`],
  [
    `{ secret: ${SECRET} }`,
    `5:15 service_codes[0].labels.secret: ${NAME}, found "secret"; move it out of labels`,
  ],
  [
    `{ ${Array.from({ length: 11 }, (_, at) => `l${at}: x`).join(', ')} }`,
    '5:13 service_codes[0].labels: expected at most 10 labels, found 11',
  ],
];

for (const [labels, expected] of INVALID_LABELS) {
  test(`labels are rejected with location, expectation and finding: ${labels.slice(0, 40)}`, async () => {
    assert.equal(
      await catchConfigErrorMessage(() => loadConfiguration({ yml: withLabels(labels) })),
      `/etc/xvs.yml:${expected}`,
    );
  });
}

test('label names of families, default metrics, Prometheus and rules are reserved', async () => {
  using self = new ExporterMetrics({
    clock: new ManualClock(0),
    version: '1',
    revision: 'r',
    nodeVersion: 'v',
  });
  const exposed = (await self.collect(0)).flatMap(({ spec }) => spec.labels);
  assert.ok(exposed.includes('space'));
  const ofPrometheus = [
    'le',
    'quantile',
    'job',
    'instance',
    'pod',
    'namespace',
    'cluster',
    'alertname',
    'alertstate',
  ];
  const ofRules = readAlertRules().flatMap(({ labels }) => Object.keys(labels));
  for (const name of new Set([...exposed, ...ofPrometheus, ...ofRules, 'service_code', 'task_id']))
    assert.match(
      await catchConfigErrorMessage(() => loadConfiguration({ yml: withLabels(`{ ${name}: x }`) })),
      new RegExp(`labels\\.${name}: expected a label name`),
    );
  const labels = { env: 'x', region: 'x', team: 'x', tenant: 'x', x: 'x' };
  const { serviceCodes } = await loadConfiguration({ yml: withLabels(JSON.stringify(labels)) });
  assert.deepEqual(serviceCodes[0]?.labels, labels);
});
