import assert from 'node:assert/strict';
import { test } from 'node:test';
import { staticLabels } from '../../src/config/static-labels.ts';
import { SelfMetrics } from '../../src/metrics/self.ts';
import { load, messageOf, NEEDED, SECRET } from '../support/configuration.ts';
import { ManualClock } from '../support/manual-clock.ts';

const withLabels = (labels: string): string =>
  `upstream: { base_url: "https://h" }\nsecret: ${SECRET}\nservice_codes:\n  - service_code: A\n    labels: ${labels}`;

test('labels are given in the order of their names', async () => {
  const { serviceCodes } = await load({
    yml: withLabels('{ tenant: Ärger & "Co", env: production, _x: "1" }'),
  });
  assert.deepEqual(Object.entries(serviceCodes[0]?.labels ?? {}), [
    ['_x', '1'],
    ['env', 'production'],
    ['tenant', 'Ärger & "Co"'],
  ]);
});

test('a code has none by default', async () => {
  const { serviceCodes } = await load({ env: NEEDED });
  assert.deepEqual(serviceCodes[0]?.labels, {});
});

const TEXT = 'expected a text of 1 to 128 characters, none of them a control character';
const LETTERS = 'expected the name of a label (letters, digits and "_")';
const TAKEN = 'which metrics or Prometheus have';

/** Mistakes, and what is said of them. */
const WRONG: readonly [string, string][] = [
  ['[tenant]', '5:13 service_codes[0].labels: expected a mapping of label names to texts, found a list'],
  ['acme', '5:13 service_codes[0].labels: expected a mapping of label names to texts, found "acme"'],
  ['', '5:5 service_codes[0].labels: expected a mapping of label names to texts, found nothing'],
  ['{ tenant: 7 }', `5:23 service_codes[0].labels.tenant: ${TEXT}, found 7; put it in quotes`],
  ['{ tenant: yes, env: true }', `5:33 service_codes[0].labels.env: ${TEXT}, found true; put it in quotes`],
  ['{ tenant: "" }', `5:23 service_codes[0].labels.tenant: ${TEXT}, found ""`],
  ['{ tenant: [] }', `5:23 service_codes[0].labels.tenant: ${TEXT}, found an empty list`],
  ['{ tenant: "a\\nb" }', `5:23 service_codes[0].labels.tenant: ${TEXT}, found "a\\nb"`],
  [
    `{ tenant: ${'x'.repeat(129)} }`,
    `5:23 service_codes[0].labels.tenant: ${TEXT}, found "${'x'.repeat(129)}"`,
  ],
  ['{ te-nant: a }', `5:15 service_codes[0].labels.te-nant: ${LETTERS}, found "te-nant"`],
  ['{ 1a: a }', `5:15 service_codes[0].labels.1a: ${LETTERS}, found "1a"`],
  ['{ "": a }', `5:15 service_codes[0].labels."": ${LETTERS}, found ""`],
  [
    '{ __name__: a }',
    '5:15 service_codes[0].labels.__name__: expected the name of a label, found "__name__": names that begin with "__" are Prometheus\'s own',
  ],
  [
    '{ vs_id: a }',
    `5:15 service_codes[0].labels.vs_id: expected the name of a label that is not taken, found "vs_id", ${TAKEN}`,
  ],
  [
    '{ instance: a }',
    `5:15 service_codes[0].labels.instance: expected the name of a label that is not taken, found "instance", ${TAKEN}`,
  ],
  [
    `{ secret: ${SECRET} }`,
    '5:15 service_codes[0].labels.secret: expected the name of a label, found "secret", which belongs beside labels',
  ],
  [
    `{ ${Array.from({ length: 11 }, (_, at) => `l${at}: x`).join(', ')} }`,
    '5:13 service_codes[0].labels: expected at most 10 labels, found 11',
  ],
];

for (const [labels, expected] of WRONG) {
  test(`labels are refused with place, expectation and finding: ${labels.slice(0, 40)}`, async () => {
    assert.equal(await messageOf(() => load({ yml: withLabels(labels) })), `/etc/xvs.yml:${expected}`);
  });
}

test('no name is free that a family, a default metric or Prometheus has', async () => {
  using self = new SelfMetrics({ clock: new ManualClock(0), version: '1', revision: 'r', nodeVersion: 'v' });
  self.track('A', 1000);
  const exposed = (await self.collect()).flatMap(({ spec }) => spec.labels);
  assert.ok(exposed.includes('space') && exposed.includes('service_code'));
  for (const name of [
    ...exposed,
    'le',
    'quantile',
    'job',
    'instance',
    'pod',
    'namespace',
    'cluster',
    'task_id',
  ])
    assert.equal(staticLabels.parse({ [name]: 'x' }).ok, false, name);
  for (const name of ['tenant', 'env', 'region', 'team', 'x'])
    assert.equal(staticLabels.parse({ [name]: 'x' }).ok, true, name);
});
