import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import type { Family } from '../../../src/families/family.ts';
import { render } from '../../support/render.ts';
import { toDefaultFamily } from '../../../src/metrics/prom-client-adapter.ts';
import { ExporterMetrics, type ExporterMetricsOptions } from '../../../src/metrics/exporter-metrics.ts';
import type { StateStatistics } from '../../../src/state/state-store.ts';
import { parseExposition } from '../../support/exposition-parser.ts';

const BUILD = { version: '1.2.3', revision: 'abcdef0', nodeVersion: 'v20.19.0' };

function start(t: TestContext, options: Partial<ExporterMetricsOptions> = {}) {
  const time = { wallOffsetMs: 1_700_000_000_200, monotonicMs: 50 };
  const clock = {
    now: () => time.wallOffsetMs + time.monotonicMs,
    monotonic: () => time.monotonicMs,
    sleep: () => Promise.resolve(),
  };
  const metrics = new ExporterMetrics({ clock, ...BUILD, ...options });
  t.after(() => metrics[Symbol.dispose]());
  const read = async () => {
    const families = await metrics.collect(3);
    return parseExposition(render(families, 'openmetrics'), 'openmetrics').families;
  };
  /** Returns values by sample name and labels. */
  const readValues = async () => {
    const samples = [...(await read()).values()].flatMap((family) => family.samples);
    return new Map(
      samples.map(({ name, labels, value }) => [[name, ...Object.values(labels)].join(' '), value]),
    );
  };
  return { metrics, time, read, readValues };
}

test('one histogram has the durations of the polls of all service codes', async (t) => {
  const { metrics, readValues } = start(t);
  metrics.pollDurations.observe(0.3);
  metrics.pollDurations.observe(7);
  const values = await readValues();
  for (const [sample, expected] of [
    ['bucket 0.25', 0],
    ['bucket 0.5', 1],
    ['bucket 10.0', 2],
    ['sum', 7.3],
    ['count', 2],
  ]) {
    assert.equal(values.get(`${CATALOGUE.pollDuration.name}_${sample}`), expected, `${sample}`);
  }
});

async function readStateValues({ readValues }: ReturnType<typeof start>) {
  return [...(await readValues())].filter(([name]) => name.startsWith('xvs_exporter_state_'));
}

test('a state whose default folder cannot be used has one series, at 0', async (t) => {
  assert.deepEqual(await readStateValues(start(t, { isStateOpen: false })), [[CATALOGUE.stateOpen.name, 0]]);
});

test('the state has series only if there is one, and a time after the first write', async (t) => {
  assert.deepEqual(await readStateValues(start(t)), []);
  const state: StateStatistics = { writeErrors: 0, delayedPublications: 0 };
  const started = start(t, { state, isStateOpen: true });
  assert.deepEqual(await readStateValues(started), [
    [CATALOGUE.stateOpen.name, 1],
    [CATALOGUE.stateWriteErrors.name, 0],
    [CATALOGUE.stateDelayedPublications.name, 0],
  ]);
  Object.assign(state, {
    writeErrors: 1,
    delayedPublications: 2,
    lastWriteMs: 60_050,
  });
  assert.deepEqual(await readStateValues(started), [
    [CATALOGUE.stateOpen.name, 1],
    [CATALOGUE.stateWriteErrors.name, 1],
    [CATALOGUE.stateDelayedPublications.name, 2],
    [CATALOGUE.stateLastSuccess.name, 1_700_000_060.25],
  ]);
});

test('the certificate that the exporter presents has a series as long as there is one', async (t) => {
  let notAfterMs: number | undefined = 1_800_000_000_000;
  const { readValues } = start(t, { getClientCertificateNotAfterMs: () => notAfterMs });
  const { name } = CATALOGUE.clientCertificateNotAfter;
  assert.equal((await readValues()).get(name), 1_800_000_000);
  notAfterMs = undefined;
  assert.equal((await readValues()).get(name), undefined);
});

test('a complete collection has build, configuration and process metrics', async (t) => {
  const { metrics, time, readValues, read } = start(t);
  metrics.recordConfigLoad(true);
  time.monotonicMs += 1000;
  metrics.recordConfigLoad(false);
  const values = await readValues();
  assert.equal(values.get(`${CATALOGUE.buildInfo.name} 1.2.3 abcdef0 v20.19.0`), 1);
  assert.equal(values.get(CATALOGUE.configLastReloadSuccessful.name), 0);
  assert.equal(values.get(CATALOGUE.configLastReloadSuccess.name), 1_700_000_000.25);
  const types = new Map([...(await read())].map(([name, { type }]) => [name, type]));
  assert.equal(types.get('process_cpu_user_seconds'), 'counter');
  assert.equal(types.get('process_resident_memory_bytes'), 'gauge');
  assert.equal(types.get('nodejs_version'), 'info');
  assert.equal(types.has('nodejs_active_handles_total'), false);
});

test('the age of the configuration and of the state is true after the wall clock was set back', async (t) => {
  const { time, readValues } = start(t, {
    state: { writeErrors: 0, delayedPublications: 0, lastWriteMs: 60_050 },
  });
  time.monotonicMs += 120_000;
  time.wallOffsetMs -= 3_600_000;
  const values = await readValues();
  const ages = [CATALOGUE.configLastReloadSuccess, CATALOGUE.stateLastSuccess].map(
    ({ name }) => (values.get(CATALOGUE.time.name) ?? Number.NaN) - (values.get(name) ?? Number.NaN),
  );
  assert.deepEqual(ages, [120, 60]);
});

test('a file that has lost service codes is told for an hour, unless it gets them back', (t) => {
  const { metrics, time } = start(t);
  const load = (counts: Readonly<Record<string, number>>) => {
    const files = Object.entries(counts).map(([name, count]) => ({
      name,
      problems: [],
      codes: Array.from({ length: count }),
    }));
    metrics.recordConfigLoad(true, files);
    return metrics.configLoads.codeLosses.map(({ file, codes, before, untilMs }) => {
      return `${file}: ${codes}, ${before} until ${(untilMs - 1_700_000_000_250) / 60_000}`;
    });
  };
  assert.deepEqual(load({ a: 6, b: 1 }), []);
  time.monotonicMs += 60_000;
  assert.deepEqual(load({ a: 5, b: 2 }), ['a: 5, 6 until 1']);
  time.monotonicMs += 60_000;
  assert.deepEqual(load({ a: 4 }), ['a: 4, 5 until 2', 'b: 0, 2 until 2']);
  assert.deepEqual(load({ a: 6 }), ['b: 0, 2 until 2']);
  time.monotonicMs += 3_600_000;
  assert.deepEqual(load({ a: 6, b: 1 }), []);
});

test('default metrics are collected at most every ten seconds', async (t) => {
  const { metrics, time } = start(t);
  const collectDefaults = async () =>
    (await metrics.collect(0)).filter(({ spec }) => /^(?:process|nodejs)_/.test(spec.name));
  const [first, concurrent] = await Promise.all([collectDefaults(), collectDefaults()]);
  time.monotonicMs += 9999;
  const later = await collectDefaults();
  time.monotonicMs += 1;
  const afterTenSeconds = await collectDefaults();
  const isSame = (families: readonly Family[]) => families.map((family, index) => family === first[index]);
  assert.ok(first.length > 20);
  assert.deepEqual(new Set([...isSame(concurrent), ...isSame(later)]), new Set([true]));
  assert.deepEqual(new Set(isSame(afterTenSeconds)), new Set([false]));
});

test('the default histogram of garbage collections is converted with its buckets', () => {
  const labels = { kind: 'minor' };
  const name = 'nodejs_gc_duration_seconds';
  const values = [
    { metricName: `${name}_bucket`, labels: { le: 0.1, ...labels }, value: 1 },
    { metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: 2 },
    { metricName: `${name}_sum`, labels, value: 3.5 },
    { metricName: `${name}_count`, labels, value: 2 },
  ];
  assert.deepEqual(toDefaultFamily({ name, help: 'GC.', type: 'histogram', values }), {
    spec: { name, help: 'GC.', type: 'histogram', labels: ['kind'], buckets: [0.1] },
    samples: [{ labels: ['minor'], buckets: [1, 2], sum: 3.5 }],
  });
});

test('the number of service codes, the shard count and the shard index are exposed', async (t) => {
  const readGauges = async ({ readValues }: ReturnType<typeof start>) => {
    const values = await readValues();
    return ['service_codes', 'shards', 'shard'].map((name) => values.get(`xvs_exporter_${name}`));
  };
  assert.deepEqual(await readGauges(start(t)), [3, 1, 0]);
  assert.deepEqual(await readGauges(start(t, { shard: { index: 2, count: 4 } })), [3, 4, 2]);
});
