import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { Exposition } from '../../src/metrics/exposition.ts';
import { targetGroups } from '../../src/web/discovery.ts';
import { handle } from '../../src/web/routes.ts';
import type { ExporterView } from '../../src/web/view.ts';
import { answerTo, askSecurely, HASH, PASSWORD, SERVER, startGuarded } from './guarded.ts';

const ADDRESS = { target: 'exporter:20928', scheme: 'http', metricsPath: '/metrics' } as const;
const OPTIONS = { telemetryPath: '/other-metrics', exposition: new Exposition() };
const LONE_SURROGATE = 'half \ud83d';

/** The labels of the groups for some codes. */
function labelsFor(codes: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  const polled = Object.entries(codes).map(([serviceCode, labels]) => ({ serviceCode, labels }));
  return targetGroups(polled, ADDRESS).map(({ labels }) => labels);
}

const routeLabels = (serviceCode: string) => ({
  __metrics_path__: '/metrics',
  __param_service_code: serviceCode,
  __scheme__: 'http',
  service_code: serviceCode,
});

test('a service code is a target, with all that leads to its metrics and the labels of its own', () => {
  const labels = { tenant: 'blue', env: '' };
  assert.deepEqual(targetGroups([{ serviceCode: 'A', labels }], ADDRESS), [
    { targets: ['exporter:20928'], labels: { ...routeLabels('A'), ...labels } },
  ]);
});

test('without service codes there are no targets', () => {
  assert.deepEqual(labelsFor({}), []);
});

test('the order is that of the codes, whatever the language and wherever they stand', () => {
  const codes = Object.fromEntries(['b', 'ä', 'B', '10', 'a', '9'].map((code) => [code, {}]));
  const sorted = ['10', '9', 'B', 'a', 'b', 'ä'];
  assert.deepEqual(
    labelsFor(codes).map((labels) => labels['service_code']),
    sorted,
  );
});

test('labels of a code lead no scrape elsewhere', () => {
  const hostile = Object.fromEntries(Object.keys(routeLabels('')).map((name) => [name, 'elsewhere']));
  assert.deepEqual(labelsFor({ A: hostile }), [routeLabels('A')]);
});

const view = (...codes: readonly string[]): Pick<ExporterView, 'serviceCodes'> => ({
  serviceCodes: () => codes.map((serviceCode) => ({ serviceCode, labels: {} })),
});

/** What /sd answers, by a view that knows nothing but its service codes. */
function ask(method: string, url: string, headers: object, codes: readonly string[] = ['A']) {
  return handle({ method, url, headers: { ...headers } }, view(...codes) as ExporterView, OPTIONS);
}

test('the answer is JSON for the asker alone, and leads to the path that the metrics have', async () => {
  const { status, headers, body } = await ask('GET', '/sd?service_code=B&x', { host: '[::1]' });
  assert.equal(status, 200);
  assert.equal(headers['Content-Type'], 'application/json');
  assert.equal(headers['Cache-Control'], 'no-store');
  assert.deepEqual(JSON.parse(String(body)), [
    { targets: ['[::1]:80'], labels: { ...routeLabels('A'), __metrics_path__: '/other-metrics' } },
  ]);
});

test('HEAD is answered without a body', async () => {
  const { status, headers, body } = await ask('HEAD', '/sd', { host: 'a' });
  assert.deepEqual([status, headers['Content-Type'], body], [200, 'application/json', '']);
  assert.ok(Number(headers['Content-Length']) > 0);
});

test('whatever a service code is called, the answer is UTF-8 and JSON', async () => {
  const codes = ['"\\\n\u2028</script>', LONE_SURROGATE, 'ü😀'];
  const { body } = await ask('GET', '/sd', { host: 'a' }, codes);
  const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(body));
  const groups: readonly { readonly labels: Readonly<Record<string, string>> }[] = JSON.parse(text);
  assert.deepEqual(
    groups.map(({ labels }) => labels['__param_service_code']),
    codes,
  );
});

test('a Host that is none is refused without being repeated', async () => {
  const { status, body } = await ask('GET', '/sd', { host: 'evil:80/<b>' });
  assert.equal(status, 400);
  assert.equal(
    body,
    'Expected the Host header to be a name or an address, with or without a port, found something else.\n',
  );
});

const handled = {
  handle: (incoming: Parameters<typeof handle>[0]) => handle(incoming, view('A') as ExporterView, OPTIONS),
};

test('by TLS, the targets are to be scraped by TLS', async (t) => {
  const { port } = await startGuarded(t, `tls_server_config: { ${SERVER} }`, handled);
  const { status, body } = await askSecurely(port, '/sd', { headers: { host: 'localhost' } });
  assert.equal(status, 200);
  assert.match(body, /"targets":\["localhost:443"\].*"__scheme__":"https"/);
});

test('the targets are told to nobody without the password, nor faster than is allowed', async (t) => {
  const users = `basic_auth_users: { prometheus: ${HASH} }`;
  const { port } = await startGuarded(t, `${users}\nrate_limit: { interval: 1h, burst: 2 }`, handled);
  const asking = async (headers: Readonly<Record<string, string>>) =>
    await answerTo(request({ host: '127.0.0.1', port, path: '/sd', headers, agent: false }).end());
  const authorization = `Basic ${Buffer.from(`prometheus:${PASSWORD}`).toString('base64')}`;
  assert.equal((await asking({})).status, 401);
  const { status, body } = await asking({ authorization });
  assert.equal(status, 200);
  assert.ok(body.includes(`"targets":["127.0.0.1:${port}"]`), body);
  assert.equal((await asking({ authorization })).status, 429);
});
