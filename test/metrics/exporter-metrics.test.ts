import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { INVALID_RECORD_PAIRS } from '../../src/listing/records.ts';
import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import type { PollMetrics } from '../../src/metrics/code-metrics.ts';
import { countSeries } from '../../src/metrics/exposition.ts';
import type { Selection } from '../../src/metrics/selection.ts';
import { render } from '../support/render.ts';
import { toDefaultFamily } from '../../src/metrics/registry-families.ts';
import { SelfMetrics } from '../../src/metrics/self.ts';
import { POLL_ERROR_REASONS } from '../../src/upstream/errors.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { assertPromtoolAccepts } from '../support/promtool.ts';

const BUILD = { version: '1.2.3', revision: 'abcdef0', nodeVersion: 'v20.19.0' };

function start(t: TestContext) {
  const time = { nowMs: 1_700_000_000_250 };
  const clock = { now: () => time.nowMs, monotonic: () => 0, sleep: () => Promise.resolve() };
  const metrics = new SelfMetrics({ clock, ...BUILD });
  t.after(() => metrics[Symbol.dispose]());
  const read = async (...serviceCodes: string[]) => {
    const families = await metrics.collect(serviceCodes.length === 0 ? undefined : new Set(serviceCodes));
    return parseExposition(render(families, 'openmetrics'), 'openmetrics').families;
  };
  /** Values by sample name and labels, without `service_code`. */
  const valuesOf = async (...serviceCodes: string[]) => {
    const samples = [...(await read(...serviceCodes)).values()].flatMap((family) => family.samples);
    return new Map(
      samples.map(({ name, labels, value }) => [[name, ...labelValues(labels)].join(' '), value]),
    );
  };
  return { metrics, time, read, valuesOf };
}

function labelValues(labels: Readonly<Record<string, string>>): string[] {
  return Object.keys(labels).flatMap((name) => (name === 'service_code' ? [] : (labels[name] ?? [])));
}

test('every series of a service code stands at 0 as soon as it is tracked, and none of what never happened', async (t) => {
  const { metrics, valuesOf } = start(t);
  metrics.track('A', 15_000);
  const values = await valuesOf('A');
  const names = [
    'xvs_exporter_polls_total',
    ...POLL_ERROR_REASONS.map((reason) => `xvs_exporter_poll_errors_total ${reason}`),
    'xvs_exporter_polls_skipped_total overlap',
    'xvs_exporter_polls_skipped_total retry_after',
    ...INVALID_RECORD_PAIRS.map((pair) => `xvs_exporter_invalid_records_total ${pair.join(' ')}`),
    'xvs_exporter_poll_duration_seconds_count',
    'xvs_exporter_poll_duration_seconds_sum',
    ...CATALOGUE.pollDuration.buckets.map(
      (bound) =>
        `xvs_exporter_poll_duration_seconds_bucket ${Number.isInteger(bound) ? `${bound}.0` : bound}`,
    ),
    'xvs_exporter_poll_duration_seconds_bucket +Inf',
  ];
  for (const name of names) assert.equal(values.get(name), 0, name);
  const others = [...values].filter(([name]) => !names.includes(name) && !name.includes('_created'));
  assert.deepEqual(others, [['xvs_exporter_poll_interval_seconds', 15]]);
});

test('counters and histograms tell when their service code was first tracked', async (t) => {
  const { metrics, time, valuesOf } = start(t);
  metrics.track('A', 15_000);
  time.nowMs += 60_000;
  metrics.track('A', 15_000);
  const created = [...(await valuesOf('A'))].filter(([name]) => name.includes('_created'));
  assert.equal(created.length, 1 + POLL_ERROR_REASONS.length + 2 + INVALID_RECORD_PAIRS.length + 1);
  assert.deepEqual(new Set(created.map(([, value]) => value)), new Set([1_700_000_000.25]));
});

test('a poll that succeeds moves both timestamps, one that fails only the first', async (t) => {
  const { metrics, time, valuesOf } = start(t);
  const poll = metrics.track('A', 15_000);
  poll.started();
  poll.responseBytes(1234);
  poll.succeeded(0.3);
  time.nowMs += 15_000;
  poll.started();
  poll.failed('http_status', 7);
  const values = await valuesOf('A');
  assert.equal(values.get('xvs_exporter_polls_total'), 2);
  assert.equal(values.get('xvs_exporter_poll_errors_total http_status'), 1);
  assert.equal(values.get('xvs_exporter_last_success_timestamp_seconds'), 1_700_000_000.25);
  assert.equal(values.get('xvs_exporter_last_poll_timestamp_seconds'), 1_700_000_015.25);
  assert.equal(values.get('xvs_exporter_response_bytes'), 1234);
  assert.equal(values.get('xvs_exporter_poll_duration_seconds_bucket 0.5'), 1);
  assert.equal(values.get('xvs_exporter_poll_duration_seconds_bucket 10.0'), 2);
  assert.equal(values.get('xvs_exporter_poll_duration_seconds_sum'), 7.3);
  assert.equal(values.get('xvs_exporter_poll_duration_seconds_count'), 2);
});

test('skipped polls and invalid records are counted by reason', async (t) => {
  const { metrics, valuesOf } = start(t);
  const poll = metrics.track('A', 15_000);
  poll.skipped('overlap');
  poll.invalidRecord('task', 'duplicate_id', 3);
  const values = await valuesOf('A');
  assert.equal(values.get('xvs_exporter_polls_skipped_total overlap'), 1);
  assert.equal(values.get('xvs_exporter_polls_skipped_total retry_after'), 0);
  assert.equal(values.get('xvs_exporter_invalid_records_total task duplicate_id'), 3);
});

test('the state file has series only where there is one, and its size and time once it is written', async (t) => {
  const { metrics, time, valuesOf } = start(t);
  const names = async () =>
    [...(await valuesOf())].filter(([name]) => name.startsWith('xvs_exporter_state_'));
  assert.deepEqual(await names(), []);
  const state = metrics.trackState();
  const errors = (value: number): [string, number][] => [
    ['xvs_exporter_state_write_errors_total', value],
    ['xvs_exporter_state_write_errors_created', 1_700_000_000.25],
  ];
  assert.deepEqual(await names(), errors(0));
  time.nowMs += 60_000;
  state.failed();
  assert.deepEqual(await names(), errors(1));
  state.written(1234);
  assert.deepEqual(await names(), [
    ...errors(1),
    ['xvs_exporter_state_last_success_timestamp_seconds', 1_700_000_060.25],
    ['xvs_exporter_state_size_bytes', 1234],
  ]);
});

test('tracking a service code anew keeps its counters and sets its interval', async (t) => {
  const { metrics, valuesOf } = start(t);
  metrics.track('A', 15_000).started();
  metrics.track('A', 30_000).started();
  const values = await valuesOf('A');
  assert.equal(values.get('xvs_exporter_polls_total'), 2);
  assert.equal(values.get('xvs_exporter_poll_interval_seconds'), 30);
});

test('an untracked service code leaves nothing, and a poll that ends late brings nothing back', async (t) => {
  const { metrics, valuesOf } = start(t);
  const poll = metrics.track('A', 15_000);
  poll.responseBytes(1);
  poll.succeeded(1);
  metrics.untrack('A');
  poll.started();
  poll.failed('timeout', 1);
  poll.succeeded(1);
  poll.skipped('overlap');
  poll.responseBytes(1);
  poll.invalidRecord('user', 'wrong_type', 1);
  assert.deepEqual(await valuesOf('A'), new Map());
});

test('a narrowed collection has the chosen service codes and nothing of the process', async (t) => {
  const { metrics, read } = start(t);
  for (const code of ['A', 'B', 'C']) metrics.track(code, 15_000);
  const samples = [...(await read('A', 'C')).values()].flatMap((family) => family.samples);
  assert.deepEqual(new Set(samples.map(({ labels }) => labels['service_code'])), new Set(['A', 'C']));
});

test('a collection of all service codes has nothing of the process, and one of the process nothing of them', async (t) => {
  const { metrics } = start(t);
  metrics.track('A', 15_000);
  const namesOf = async (selection: Selection) =>
    (await metrics.collect(selection)).map(({ spec }) => spec.name);
  const ofCodes = await namesOf('service_codes');
  const ofProcess = await namesOf('exporter');
  assert.ok(ofCodes.includes('xvs_exporter_polls_total'));
  assert.ok(
    ofProcess.includes('xvs_exporter_build_info') && ofProcess.includes('process_start_time_seconds'),
  );
  assert.deepEqual([...ofCodes, ...ofProcess], await namesOf('everything'));
});

test('the series of service codes are counted without making them', async (t) => {
  const { metrics } = start(t);
  const assertCounted = async (expected: number) => {
    assert.equal(metrics.codeSeries, expected);
    assert.equal(countSeries(await metrics.collect('service_codes')), expected);
  };
  await assertCounted(0);
  const polls = ['A', 'B'].map((code) => metrics.track(code, 15_000));
  const [, poll] = polls;
  const atFirst = metrics.codeSeries;
  await assertCounted(atFirst);
  poll?.started();
  poll?.failed('timeout', 1);
  poll?.failed('timeout', 1);
  await assertCounted(atFirst + 1);
  poll?.responseBytes(5);
  poll?.succeeded(1);
  await assertCounted(atFirst + 3);
  metrics.untrack('B');
  await assertCounted(atFirst / 2);
});

test('of a service code to which nothing happens the same samples come again, and others once something does', async (t) => {
  const { metrics } = start(t);
  const happenings: readonly ((poll: PollMetrics) => void)[] = [
    (poll) => poll.started(),
    (poll) => poll.succeeded(1),
    (poll) => poll.failed('timeout', 1),
    (poll) => poll.skipped('overlap'),
    (poll) => poll.responseBytes(1),
    (poll) => poll.invalidRecord('user', 'wrong_type', 1),
    () => metrics.track('A', 30_000),
  ];
  const poll = metrics.track('A', 15_000);
  const collect = async () => (await metrics.collect(new Set(['A']))).map(({ samples }) => samples);
  for (const happen of happenings) {
    const before = await collect();
    const again = await collect();
    assert.ok(before.every((samples, index) => samples === again[index]));
    happen(poll);
    assert.notDeepEqual(await collect(), before, happen.toString());
  }
});

test('a whole collection has the build, the configuration and the process', async (t) => {
  const { metrics, time, valuesOf, read } = start(t);
  metrics.configLoaded(true);
  time.nowMs += 1000;
  metrics.configLoaded(false);
  const values = await valuesOf();
  assert.equal(values.get('xvs_exporter_build_info 1.2.3 abcdef0 v20.19.0'), 1);
  assert.equal(values.get('xvs_exporter_config_last_reload_successful'), 0);
  assert.equal(values.get('xvs_exporter_config_last_reload_success_timestamp_seconds'), 1_700_000_000.25);
  const types = new Map([...(await read())].map(([name, { type }]) => [name, type]));
  assert.equal(types.get('process_cpu_user_seconds'), 'counter');
  assert.equal(types.get('process_resident_memory_bytes'), 'gauge');
  assert.equal(types.get('nodejs_version'), 'info');
  assert.equal(types.has('nodejs_active_handles_total'), false);
});

test('promtool has no complaint about the whole of it', async (t) => {
  const { metrics } = start(t);
  metrics.track('A', 15_000).succeeded(1);
  assertPromtoolAccepts(t, render(await metrics.collect(), 'text'));
});

test('the default histogram of garbage collections is read with its buckets', () => {
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

test('a summary in the registry is a mistake', () => {
  assert.throws(() => toDefaultFamily({ name: 's', help: 'S.', type: 'summary', values: [] }), {
    message: 'Expected a gauge, a counter or a histogram in the registry, found summary',
  });
});

test('the default metrics do not keep a process alive', () => {
  const module = JSON.stringify(new URL('../../src/metrics/self.js', import.meta.url).href);
  const script = `import { SelfMetrics } from ${module};
    const metrics = new SelfMetrics({ clock: { now: () => 0 }, version: '', revision: '', nodeVersion: '' });
    await metrics.collect();
    process.stdout.write('ended');`;
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    timeout: 20_000,
    encoding: 'utf8',
  });
  assert.deepEqual([run.status, run.stdout, run.stderr], [0, 'ended', '']);
});

test('how many service codes are polled, and by which shard', async (t) => {
  const { metrics, valuesOf } = start(t);
  const whole = async () => {
    const values = await valuesOf();
    return ['service_codes', 'shards', 'shard'].map((name) => values.get(`xvs_exporter_${name}`));
  };
  assert.deepEqual(await whole(), [0, 1, 0]);
  metrics.track('A', 15_000);
  metrics.track('B', 15_000);
  metrics.track('B', 30_000);
  assert.deepEqual(await whole(), [2, 1, 0]);
  metrics.untrack('A');
  assert.deepEqual(await whole(), [1, 1, 0]);
  using third = new SelfMetrics({
    clock: { now: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() },
    version: '',
    revision: '',
    nodeVersion: '',
    shard: { index: 2, count: 4 },
  });
  const text = render(await third.collect(), 'text');
  assert.match(text, /^xvs_exporter_shards 4$/m);
  assert.match(text, /^xvs_exporter_shard 2$/m);
});
