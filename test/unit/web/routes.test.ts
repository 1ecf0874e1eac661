import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { isProbe, useOriginForm, type WebRequest } from '../../../src/web/http-messages.ts';
import { handle } from '../../../src/web/routes.ts';
import { createFakeFacade, createRequest } from './fake-facade.ts';

const OPTIONS = {};

function get(url: string, headers = {}, overrides = {}, options = OPTIONS) {
  return handle(createRequest({ url, headers }), createFakeFacade(overrides), options);
}

for (const [url, vary] of [
  ['/metrics', 'Accept, Accept-Encoding'],
  ['/-/metrics', 'Accept, Accept-Encoding'],
  ['/', 'Accept-Encoding'],
  ['/service-codes/?service_code=A', 'Accept-Encoding'],
  ['/sd', 'Accept-Encoding'],
] as const) {
  test(`${url} is compressed for clients that accept gzip, and has a Vary header`, async () => {
    const plain = await get(url, { host: 'a' });
    const compressed = await get(url, { host: 'a', 'accept-encoding': 'gzip' });
    assert.equal(plain.headers['Content-Encoding'], undefined);
    assert.equal(compressed.headers['Content-Encoding'], 'gzip');
    assert.equal(gunzipSync(compressed.body).toString(), String(plain.body));
    for (const { headers } of [plain, compressed]) assert.equal(headers['Vary'], vary);
  });
}

const REJECTED: readonly (readonly [string, string, number, string])[] = [
  ['GET', '/metrics?service_code=', 400, 'Expected service_code to have a value, found none.\n'],
  ['GET', '/metrics?service_code=%3Cb%3E', 404, 'No such service code is configured.\n'],
  [
    'GET',
    '/metrics?service_code=A&service_code=A&service_code=B',
    400,
    'Expected one service_code, found 3: scrape each in a request of its own, or all without service_code.\n',
  ],
  [
    'GET',
    '/sd',
    400,
    'Expected the Host header to be a host name or IP address with an optional port, found none.\n',
  ],
  ['POST', '/sd', 405, 'Method not allowed: GET or HEAD.\n'],
  ['GET', '/service-codes/?service_code=B', 404, 'No such service code is configured.\n'],
  ['GET', '/service-codes/', 404, 'No such service code is configured.\n'],
  ['GET', '//host/metrics', 404, 'Nothing is at this path.\n'],
  ['OPTIONS', '*', 404, 'Nothing is at this path.\n'],
  ['POST', '/metrics', 405, 'Method not allowed: GET or HEAD.\n'],
  ['POST', '/-/reload', 403, 'Reload is disabled. Set --web.enable-lifecycle to enable it.\n'],
];

for (const [method, url, status, body] of REJECTED) {
  test(`${method} ${url} gets ${status}`, async () => {
    const response = await handle(createRequest({ method, url }), createFakeFacade(), OPTIONS);
    assert.deepEqual([response.status, String(response.body)], [status, body]);
    assert.equal(response.headers['Allow'], status === 405 ? 'GET, HEAD' : undefined);
  });
}

for (const [url, root, reason] of [
  ['/service-codes/?service_code=%3Cb%3E', '../', 'No such service code is configured.'],
  ['/nope?x/y', './', 'Nothing is at this path.'],
  ['/a//nope', '../../', 'Nothing is at this path.'],
] as const) {
  test(`a browser gets a page for ${url}, with a title, a language and a way back`, async () => {
    const { status, headers, body } = await get(url, { accept: 'text/html,*/*' });
    assert.deepEqual([status, headers['Content-Type']], [404, 'text/html; charset=utf-8']);
    for (const part of [
      '<html lang="en">',
      '<title>Not found · xvs-exporter</title>',
      `<a href="${root}">All service codes</a>`,
      reason,
    ])
      assert.ok(String(body).includes(part), part);
  });
}

test('the process can be healthy before it is ready', async () => {
  const notReady = { isReady: () => false };
  const [healthy, waiting] = [await get('/-/healthy', {}, notReady), await get('/-/ready', {}, notReady)];
  assert.deepEqual([healthy.status, String(healthy.body)], [200, 'xvs-exporter is healthy.\n']);
  assert.deepEqual([waiting.status, (await get('/-/ready')).status], [503, 200]);
});

test('the process is unhealthy when the poll loop is stuck', async () => {
  const { status, body } = await get('/-/healthy', {}, { isHealthy: () => false });
  assert.deepEqual([status, String(body)], [503, 'xvs-exporter is unhealthy: the poll loop is stuck.\n']);
});

/** Outcomes of a reload and the responses to it. */
const RELOADS: readonly (readonly [{ readonly error?: string }, number, string])[] = [
  [{}, 200, 'xvs-exporter has reloaded its configuration.\n'],
  [
    { error: 'xvs.yml:1:1: expected this\nxvs.yml:2:1: expected that' },
    500,
    'xvs.yml:1:1: expected this\nxvs.yml:2:1: expected that\n',
  ],
];

for (const [outcome, status, body] of RELOADS) {
  test(`a requested reload gets ${status}`, async () => {
    const options = { ...OPTIONS, reload: () => Promise.resolve(outcome) };
    const response = await handle(
      createRequest({ method: 'POST', url: '/-/reload?x', isAuthenticated: true }),
      createFakeFacade(),
      options,
    );
    assert.deepEqual([response.status, String(response.body)], [status, body]);
    assert.equal(response.headers['Cache-Control'], 'no-store');
  });
}

test('a failed reload has no details for clients without authentication', async () => {
  const options = { ...OPTIONS, reload: () => Promise.resolve({ error: 'secret.yml:1:1: expected this' }) };
  const request = createRequest({ method: 'POST', url: '/-/reload' });
  const { status, body } = await handle(request, createFakeFacade(), options);
  assert.deepEqual([status, String(body)], [500, 'Reload failed; the log has the details.\n']);
});

/** Headers of a reload request and whether it is accepted. */
const RELOAD_ORIGINS: readonly (readonly [WebRequest['headers'], boolean])[] = [
  [{ host: 'x:1' }, true],
  [{ host: 'x:1', origin: 'http://x:1' }, true],
  [{ host: 'x:1', origin: 'https://x:1' }, true],
  [{ host: 'x:1', 'sec-fetch-site': 'same-origin', origin: 'https://proxy' }, true],
  [{ host: 'x:1', 'sec-fetch-site': 'none' }, true],
  [{ host: 'x:1', 'sec-fetch-site': 'cross-site', origin: 'http://x:1' }, false],
  [{ host: 'x:1', 'sec-fetch-site': 'same-site' }, false],
  [{ host: 'x:1', origin: 'http://evil' }, false],
  [{ host: 'x:1', origin: 'http://x:2' }, false],
  [{ host: 'x:1', origin: 'null' }, false],
];

for (const [headers, isAccepted] of RELOAD_ORIGINS) {
  test(`a reload with the headers ${JSON.stringify(headers)} is ${isAccepted ? 'accepted' : 'rejected'}`, async () => {
    let reloads = 0;
    const reload = () => {
      reloads += 1;
      return Promise.resolve({});
    };
    const request = createRequest({ method: 'POST', url: '/-/reload', headers });
    const { status } = await handle(request, createFakeFacade(), { ...OPTIONS, reload });
    assert.deepEqual([status, reloads], isAccepted ? [200, 1] : [403, 0]);
  });
}

for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
  test(`${method} does not reload`, async () => {
    const options = { ...OPTIONS, reload: () => Promise.reject(new Error('Expected no reload')) };
    for (const routes of [options, OPTIONS]) {
      const response = await handle(createRequest({ method, url: '/-/reload' }), createFakeFacade(), routes);
      assert.deepEqual([response.status, String(response.body)], [405, 'Method not allowed: POST.\n']);
      assert.equal(response.headers['Allow'], 'POST');
    }
  });
}

for (const url of ['/', '/service-codes/?service_code=A', '/metrics', '/-/healthy', '/-/ready', '/nowhere']) {
  test(`${url} forbids storing and sniffing, and HEAD has the length without the body`, async () => {
    const response = await get(url);
    assert.equal(response.headers['Cache-Control'], 'no-store');
    assert.equal(response.headers['X-Content-Type-Options'], 'nosniff');
    assert.equal(response.headers['Content-Length'], String(Buffer.byteLength(response.body)));
    if (response.status !== 200) return;
    const head = await handle(createRequest({ method: 'HEAD', url }), createFakeFacade(), OPTIONS);
    assert.deepEqual([head.status, head.headers, String(head.body)], [200, response.headers, '']);
  });
}

test('the path of the metrics is configurable and can replace the status page', async () => {
  for (const telemetryPath of ['/other', '/']) {
    assert.equal((await get('/metrics', {}, { telemetryPath })).status, 404);
    assert.match(String((await get(telemetryPath, {}, { telemetryPath })).body), /^# HELP xvs_up/);
  }
});

test('only health and readiness are probes', () => {
  assert.deepEqual(
    ['/-/healthy', '/-/ready?x', '/-/reload', '/', '/metrics', '/metrics?/-/ready'].map(isProbe),
    [true, true, false, false, false, false],
  );
});

test('a request target above 2,048 characters gets a 414, a probe included', async () => {
  for (const path of ['/metrics?', '/-/ready?', '/'])
    assert.equal((await get(path.padEnd(2049, '%ff&'))).status, 414, path);
  assert.equal((await get('/-/ready?'.padEnd(2048, '%ff&'))).status, 200);
});

test('a query that cannot be decoded gets a 400, but that of a probe', async () => {
  for (const path of ['/metrics?service_code=%ff', '/?q=50%', '/other?%c3'])
    assert.equal((await get(path)).status, 400, path);
  assert.equal((await get('/-/ready?%ff')).status, 200);
});

for (const [url, expected, host] of [
  ['/metrics?x=1', '/metrics?x=1', 'original'],
  ['http://exporter:20928/metrics?x=1', '/metrics?x=1', 'exporter:20928'],
  ['HTTPS://[::1]/-/healthy', '/-/healthy', '[::1]'],
  ['http://exporter', '/', 'exporter'],
  ['http://exporter?service_code=A', '/?service_code=A', 'exporter'],
  ['//exporter/metrics', '//exporter/metrics', 'original'],
  ['/http://exporter/metrics', '/http://exporter/metrics', 'original'],
  ['ftp://exporter/metrics', 'ftp://exporter/metrics', 'original'],
  ['*', '*', 'original'],
] as const) {
  test(`the request target ${url} is ${expected} at ${host}`, () => {
    const request = { url, headers: { host: 'original' } };
    useOriginForm(request);
    assert.deepEqual(request, { url: expected, headers: { host } });
  });
}
