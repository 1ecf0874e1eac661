import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import { Exposition } from '../../src/metrics/exposition.ts';
import { handle, isProbe } from '../../src/web/routes.ts';
import type { ExporterView } from '../../src/web/view.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { statusOf } from './pages/status-of.ts';

const OPTIONS = { telemetryPath: '/metrics', exposition: new Exposition() };

/** An exporter of two service codes, `A` and `ü&=`. */
function view(overrides: Partial<ExporterView> = {}): ExporterView {
  const codes = ['A', 'ü&='];
  return {
    version: '1.2.3',
    collect: (wanted) =>
      Promise.resolve([
        {
          spec: CATALOGUE.up,
          samples: codes
            .filter((code) => wanted?.has(code) ?? true)
            .map((code) => ({ labels: [code], value: 1 })),
        },
      ]),
    hasServiceCode: (code) => codes.includes(code),
    labelsOf: () => ({}),
    isHealthy: () => true,
    isReady: () => true,
    nowMs: () => 0,
    status: () => [statusOf('A')],
    statusOf: (code) => (codes.includes(code) ? statusOf(code) : undefined),
    breakdownOf: () => undefined,
    ...overrides,
  };
}

function get(url: string, headers = {}, overrides = {}, options = OPTIONS) {
  return handle({ method: 'GET', url, headers }, view(overrides), options);
}

async function codesAt(url: string): Promise<(string | undefined)[]> {
  const { status, body } = await get(url);
  assert.equal(status, 200);
  const family = parseExposition(String(body), 'text').families.get('xvs_up');
  return family?.samples.map(({ labels }) => labels['service_code']) ?? [];
}

test('metrics are text unless OpenMetrics is asked for', async () => {
  const text = await get('/metrics');
  assert.equal(text.headers['Content-Type'], 'text/plain; version=0.0.4; charset=utf-8');
  parseExposition(String(text.body), 'text');
  const openMetrics = await get('/metrics', { accept: 'application/openmetrics-text' });
  assert.equal(
    openMetrics.headers['Content-Type'],
    'application/openmetrics-text; version=1.0.0; charset=utf-8',
  );
  parseExposition(String(openMetrics.body), 'openmetrics');
});

for (const [url, vary] of [
  ['/metrics', 'Accept, Accept-Encoding'],
  ['/', 'Accept-Encoding'],
  ['/service-codes/A', 'Accept-Encoding'],
] as const) {
  test(`${url} is compressed for who takes gzip, and caches are told what the answer depends on`, async () => {
    const plain = await get(url);
    const compressed = await get(url, { 'accept-encoding': 'gzip' });
    assert.equal(plain.headers['Content-Encoding'], undefined);
    assert.equal(compressed.headers['Content-Encoding'], 'gzip');
    assert.equal(gunzipSync(compressed.body).toString(), String(plain.body));
    for (const { headers } of [plain, compressed]) assert.equal(headers['Vary'], vary);
  });
}

const NARROWED: readonly (readonly [string, readonly string[]])[] = [
  ['/metrics', ['A', 'ü&=']],
  ['/metrics?', ['A', 'ü&=']],
  ['/metrics?other=1', ['A', 'ü&=']],
  ['/metrics?service_code=A', ['A']],
  ['/metrics?service_code=%C3%BC%26%3D', ['ü&=']],
  ['/metrics?service_code=A&service_code=A&service_code=%C3%BC%26%3D', ['A', 'ü&=']],
];

for (const [url, codes] of NARROWED) {
  test(`${url} has the service codes ${codes.join(' and ')}`, async () => {
    assert.deepEqual(await codesAt(url), codes);
  });
}

const REFUSED: readonly (readonly [string, string, number, string])[] = [
  ['GET', '/metrics?service_code=', 400, 'Expected service_code to have a value, found none.\n'],
  ['GET', '/metrics?service_code=%3Cb%3E', 404, 'No such service code is configured.\n'],
  ['GET', '/metrics?service_code=A&service_code=B', 404, 'No such service code is configured.\n'],
  ['GET', '/service-codes/B', 404, 'No such service code is configured.\n'],
  ['GET', '/service-codes/', 404, 'No such service code is configured.\n'],
  ['GET', '/service-codes/%zz', 404, 'No such service code is configured.\n'],
  ['GET', '/service-codes', 404, 'Not found.\n'],
  ['POST', '/service-codes/A', 405, 'Method not allowed: GET or HEAD.\n'],
  ['GET', '/metrics/', 404, 'Not found.\n'],
  ['GET', '//host/metrics', 404, 'Not found.\n'],
  ['GET', '/%zz', 404, 'Not found.\n'],
  ['OPTIONS', '*', 404, 'Not found.\n'],
  ['POST', '/nowhere', 404, 'Not found.\n'],
  ['POST', '/metrics', 405, 'Method not allowed: GET or HEAD.\n'],
  ['DELETE', '/', 405, 'Method not allowed: GET or HEAD.\n'],
  ['POST', '/-/reload', 403, 'Reloading by request is not enabled: see --web.enable-lifecycle.\n'],
];

for (const [method, url, status, body] of REFUSED) {
  test(`${method} ${url} is refused with ${status}`, async () => {
    const response = await handle({ method, url, headers: {} }, view(), OPTIONS);
    assert.deepEqual([response.status, response.body], [status, body]);
    assert.equal(response.headers['Allow'], status === 405 ? 'GET, HEAD' : undefined);
  });
}

test('the process is healthy whether or not it is ready', async () => {
  const healthy = await get('/-/healthy', {}, { isReady: () => false });
  assert.deepEqual([healthy.status, healthy.body], [200, 'xvs-exporter is healthy.\n']);
});

test('the process is not healthy when its polls stand still', async () => {
  const { status, body } = await get('/-/healthy', {}, { isHealthy: () => false });
  assert.deepEqual([status, body], [503, 'xvs-exporter is not healthy: its polls stand still.\n']);
});

/** How a reload goes, and what the answer to it is. */
const RELOADED: readonly (readonly [{ readonly error?: string }, number, string])[] = [
  [{}, 200, 'xvs-exporter has reloaded its configuration.\n'],
  [
    { error: 'xvs.yml:1:1: expected this\nxvs.yml:2:1: expected that' },
    500,
    'xvs.yml:1:1: expected this\nxvs.yml:2:1: expected that\n',
  ],
];

for (const [outcome, status, body] of RELOADED) {
  test(`a reload that is asked for is answered with ${status}`, async () => {
    const options = { ...OPTIONS, reload: () => Promise.resolve(outcome) };
    const response = await handle({ method: 'POST', url: '/-/reload?x', headers: {} }, view(), options);
    assert.deepEqual([response.status, response.body], [status, body]);
    assert.equal(response.headers['Cache-Control'], 'no-store');
  });
}

for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
  test(`${method} reloads nothing`, async () => {
    const options = { ...OPTIONS, reload: () => Promise.reject(new Error('Expected no reload')) };
    for (const routes of [options, OPTIONS]) {
      const response = await handle({ method, url: '/-/reload', headers: {} }, view(), routes);
      assert.deepEqual([response.status, response.body], [405, 'Method not allowed: POST.\n']);
      assert.equal(response.headers['Allow'], 'POST');
    }
  });
}

test('the exporter is ready after its first round of polls', async () => {
  const [before, after] = [await get('/-/ready', {}, { isReady: () => false }), await get('/-/ready')];
  assert.deepEqual([before.status, after.status], [503, 200]);
});

for (const url of ['/', '/service-codes/A', '/metrics', '/-/healthy', '/-/ready', '/nowhere']) {
  test(`${url} is not stored, not sniffed, and HEAD tells the length without the body`, async () => {
    const answer = await get(url);
    assert.equal(answer.headers['Cache-Control'], 'no-store');
    assert.equal(answer.headers['X-Content-Type-Options'], 'nosniff');
    assert.equal(answer.headers['Content-Length'], String(Buffer.byteLength(answer.body)));
    if (answer.status !== 200) return;
    const head = await handle({ method: 'HEAD', url, headers: {} }, view(), OPTIONS);
    assert.deepEqual(head, { ...answer, body: '' });
  });
}

test('the path of the metrics is a setting, and may take the place of the status page', async () => {
  assert.equal((await get('/metrics', {}, {}, { ...OPTIONS, telemetryPath: '/other' })).status, 404);
  assert.match(
    String((await get('/other', {}, {}, { ...OPTIONS, telemetryPath: '/other' })).body),
    /^# HELP xvs_up/,
  );
  assert.match(String((await get('/', {}, {}, { ...OPTIONS, telemetryPath: '/' })).body), /^# HELP xvs_up/);
});

test('what no one waits for any more is not rendered', async () => {
  const signal = AbortSignal.abort(new Error('gone'));
  await assert.rejects(handle({ method: 'GET', url: '/metrics', headers: {}, signal }, view(), OPTIONS), {
    message: 'gone',
  });
});

test('a view that fails is not answered for', async () => {
  const failure = new Error('broken');
  await assert.rejects(get('/metrics', {}, { collect: () => Promise.reject(failure) }), {
    message: 'broken',
  });
});

test('probes ask about the process and change nothing', () => {
  assert.deepEqual(
    ['/-/healthy', '/-/ready?x', '/-/reload', '/', '/metrics', '/metrics?/-/ready'].map(isProbe),
    [true, true, false, false, false, false],
  );
});
