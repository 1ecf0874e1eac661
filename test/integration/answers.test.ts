import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createExporter, type Exporter } from '../../src/app.ts';
import { systemClock } from '../../src/clock.ts';
import type { Configuration } from '../../src/config/configuration.ts';
import { render } from '../support/render.ts';
import type { FaultRequest } from '../../src/simulator/faults.ts';
import { startSimulator, type Simulator } from '../../src/simulator/server.ts';
import { createWorld, type World } from '../../src/simulator/world.ts';
import type { PollErrorReason } from '../../src/upstream/errors.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { PUBLISHED_SCHEME } from '../support/published-scheme.ts';
import { recordingLogger } from '../support/recording-logger.ts';

const START_MS = Date.UTC(2026, 0, 1);
const STEP_MS = 5000;
const never = new AbortController().signal;

const code = (serviceCode: string, baseUrl: string): Configuration['serviceCodes'][number] => ({
  serviceCode,
  baseUrl,
  secret: 'abc',
  intervalMs: 15_000,
  timeoutMs: 500,
  staleAfterMs: 45_000,
  stallAfterMs: 60_000,
});

const configurationFor = (url: string): Configuration => ({
  upstream: {
    connectTimeoutMs: 500,
    headersTimeoutMs: 500,
    idleTimeoutMs: 500,
    maxResponseBytes: 1024 * 1024,
    maxConnections: 4,
    tls: {},
    proxy: {},
  },
  signing: PUBLISHED_SCHEME,
  serviceCodes: [code('FAULTY', url), code('CALM', url)],
  metrics: { maxLabelSets: 1000, perTask: false, maxTasks: 0 },
  web: { listenAddresses: [], telemetryPath: '/metrics', maxRequests: 1 },
  log: { level: 'info', format: 'json' },
});

const clock = new ManualClock(START_MS);
const world: World = createWorld({ seed: 7, startedAtMs: START_MS, users: 50, tasks: 20 });
let simulator: Simulator;
let exporter: Exporter;

before(async () => {
  const codes = new Map([
    ['FAULTY', 'abc'],
    ['CALM', 'abc'],
  ]);
  const listen = { host: '127.0.0.1', port: 0 };
  simulator = await startSimulator({ listen, world, codes, clock, clockToleranceMs: 0, gzip: true });
  const build = { version: '0', revision: 'test', nodeVersion: process.version };
  const outside = { clock: systemClock, logger: recordingLogger().logger, build };
  exporter = createExporter(configurationFor(simulator.url), outside);
});

after(async () => {
  await exporter[Symbol.asyncDispose]();
  await simulator[Symbol.asyncDispose]();
});

/** Values of all series, by name and labels. */
type Series = ReadonlyMap<string, number>;

/** A while later, polls both service codes once and reads what shows. */
async function poll(): Promise<Series> {
  clock.advance(STEP_MS);
  await exporter.poller.pollOnce(never);
  const text = render(await exporter.view.collect(), 'text');
  const { families } = parseExposition(text, 'text');
  const samples = [...families.values()].flatMap((family) => family.samples);
  return new Map(
    samples.map(({ name, labels, value }) => [`${name} ${Object.values(labels).join(' ')}`, value]),
  );
}

/** The series of one service code whose name matches. */
const only = (series: Series, serviceCode: string, name: RegExp): [string, number][] =>
  [...series].filter(([key]) => name.test(key) && key.split(' ')[1] === serviceCode);

const sum = (entries: readonly [string, number][]): number =>
  entries.reduce((total, [, value]) => total + value, 0);
const accumulated = /^xvs_(?!exporter_).*_(total|bucket|sum|count) /;
const errors = /^xvs_exporter_poll_errors_total /;

/** What the ledger has to count from one listing to a later one: growth, and all of what is new. */
function gained(fromMs: number, toMs: number): number {
  const known = new Map(
    [...world.tasks('FAULTY', fromMs)].map(({ id, input_bytes: bytes }) => [id, bytes ?? 0]),
  );
  let bytes = 0;
  for (const task of world.tasks('FAULTY', toMs))
    bytes += (task.input_bytes ?? 0) - (known.get(task.id) ?? 0);
  return bytes;
}

const FAULTS: readonly [string, FaultRequest, PollErrorReason, number | undefined][] = [
  ['a connection that is refused', { fault: 'refuse' }, 'reset', undefined],
  ['a reset before the header', { fault: 'reset_headers' }, 'reset', undefined],
  ['a reset within the body', { fault: 'reset_body' }, 'reset', undefined],
  ['silence', { fault: 'silence' }, 'timeout', undefined],
  ['silence within the body', { fault: 'silence_body' }, 'timeout', undefined],
  ['a body that drips', { fault: 'drip' }, 'timeout', undefined],
  ['503 with JSON', { fault: 'http_status', status: 503, body: 'json' }, 'http_status', undefined],
  ['500 with HTML', { fault: 'http_status', status: 500, body: 'html' }, 'http_status', undefined],
  ['429 with Retry-After', { fault: 'http_status', status: 429, retryAfter: '5' }, 'http_status', undefined],
  ['a redirect', { fault: 'redirect' }, 'http_status', undefined],
  ['a ret that is not 0', { fault: 'ret', value: 1234 }, 'api_error', 1234],
  ['a ret in digits', { fault: 'ret', value: '77' }, 'api_error', 77],
  ['HTML', { fault: 'html' }, 'not_json', undefined],
  ['an empty body', { fault: 'empty' }, 'not_json', undefined],
  ['half a body that ends well', { fault: 'truncate' }, 'not_json', undefined],
  ['a broken gzip stream', { fault: 'bad_gzip' }, 'not_json', undefined],
  ['a list that is missing', { fault: 'bad_list', list: 'user_list', form: 'missing' }, 'bad_shape', 0],
  ['a list that is null', { fault: 'bad_list', list: 'task_list', form: 'null' }, 'bad_shape', 0],
  ['a list that is an object', { fault: 'bad_list', list: 'task_list', form: 'object' }, 'bad_shape', 0],
  ['a body beyond the limit', { fault: 'huge' }, 'too_large', undefined],
];

for (const [name, fault, reason, ret] of FAULTS) {
  test(`${name} is one error of reason ${reason}: nothing lost, nothing twice, the other code untouched`, async () => {
    const good = await poll();
    const goodMs = clock.now();
    simulator.faults.set({ ...fault, serviceCode: 'FAULTY' });
    const bad = await poll();
    simulator.faults.clear();

    const counted = only(bad, 'FAULTY', errors).filter(([key, value]) => value !== good.get(key));
    assert.deepEqual(
      counted.map(([key, value]) => [key, value - (good.get(key) ?? 0)]),
      [[`xvs_exporter_poll_errors_total FAULTY ${reason}`, 1]],
    );
    assert.equal(bad.get('xvs_up FAULTY'), 0);
    if (ret !== undefined) assert.equal(bad.get('xvs_ret FAULTY'), ret);
    assert.deepEqual(only(bad, 'FAULTY', accumulated), only(good, 'FAULTY', accumulated));
    assert.deepEqual(only(bad, 'FAULTY', /^xvs_tasks /), only(good, 'FAULTY', /^xvs_tasks /));
    assert.equal(bad.get('xvs_up CALM'), 1);
    assert.equal(sum(only(bad, 'CALM', errors)), 0);
    assert.ok(
      sum(only(bad, 'CALM', /^xvs_input_bytes_total /)) > sum(only(good, 'CALM', /^xvs_input_bytes_total /)),
    );

    const recovered = await poll();
    const bytes = /^xvs_input_bytes_total /;
    assert.equal(recovered.get('xvs_up FAULTY'), 1);
    // The whole of the world's servers is known by now, so that nothing is born in between.
    assert.equal(
      sum(only(recovered, 'FAULTY', bytes)) - sum(only(good, 'FAULTY', bytes)),
      gained(goodMs, clock.now()),
    );
  });
}

test('records that break the interface are left out and counted, the rest stands', async () => {
  const good = await poll();
  simulator.faults.set({ fault: 'bad_record', every: 3, serviceCode: 'FAULTY' });
  const series = await poll();
  simulator.faults.clear();
  assert.equal(series.get('xvs_up FAULTY'), 1);
  const invalid = /^xvs_exporter_invalid_records_total /;
  assert.ok(sum(only(series, 'FAULTY', invalid)) > sum(only(good, 'FAULTY', invalid)));
  const users = sum(only(series, 'FAULTY', /^xvs_online_users /));
  assert.ok(users > 0 && users < sum(only(good, 'FAULTY', /^xvs_online_users /)));
});
