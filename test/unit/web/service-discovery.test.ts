import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Exposition } from '../../../src/metrics/exposition/exposition.ts';
import { buildTargetGroups } from '../../../src/web/service-discovery.ts';
import { handle } from '../../../src/web/routes.ts';
import type { ExporterFacade } from '../../../src/web/exporter-facade.ts';
import { requestOverHttps, SERVER_CERTIFICATE, startSecuredServer } from './secured-server.ts';

const ADDRESS = { target: 'exporter:20928', scheme: 'http', metricsPath: '/metrics' } as const;
const OPTIONS = { exposition: new Exposition() };
const LONE_SURROGATE = 'half \ud83d';

const PROCESS_LABELS = { __metrics_path__: '/-/metrics', __scheme__: 'http' };

/** Builds the labels of the groups of some service codes. */
function labelsFor(codes: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  const polled = Object.entries(codes).map(([serviceCode, labels]) => ({ serviceCode, labels }));
  const [, ...ofCodes] = buildTargetGroups(polled, ADDRESS);
  return ofCodes.map(({ labels }) => labels);
}

const routeLabels = (serviceCode: string) => ({
  __metrics_path__: '/metrics',
  __param_service_code: serviceCode,
  __scheme__: 'http',
  service_code: serviceCode,
});

test('a service code is a target with its scrape parameters and configured labels', () => {
  const labels = { tenant: 'blue', env: '' };
  assert.deepEqual(buildTargetGroups([{ serviceCode: 'A', labels }], ADDRESS), [
    { targets: ['exporter:20928'], labels: PROCESS_LABELS },
    { targets: ['exporter:20928'], labels: { ...routeLabels('A'), ...labels } },
  ]);
});

test('through a Unix socket, targets have its path', () => {
  const groups = buildTargetGroups([{ serviceCode: 'A', labels: {} }], {
    ...ADDRESS,
    target: 'localhost',
    socketPath: '/run/xvs/exporter.sock',
  });
  assert.deepEqual(
    groups.map(({ targets, labels }) => [targets, labels['__unix_socket__']]),
    [
      [['localhost'], '/run/xvs/exporter.sock'],
      [['localhost'], '/run/xvs/exporter.sock'],
    ],
  );
});

test('without service codes, the process is the only target', () => {
  const groups = buildTargetGroups([], ADDRESS);
  assert.deepEqual(groups, [{ targets: ['exporter:20928'], labels: PROCESS_LABELS }]);
});

test('targets are sorted by code unit, independent of locale and input order', () => {
  const codes = Object.fromEntries(['b', 'ä', 'B', '10', 'a', '9'].map((code) => [code, {}]));
  const sorted = ['10', '9', 'B', 'a', 'b', 'ä'];
  assert.deepEqual(
    labelsFor(codes).map((labels) => labels['service_code']),
    sorted,
  );
});

test('configured labels cannot redirect a scrape', () => {
  const hostile = Object.fromEntries(Object.keys(routeLabels('')).map((name) => [name, 'redirected']));
  assert.deepEqual(labelsFor({ A: hostile }), [routeLabels('A')]);
});

const createFacade = (
  ...codes: readonly string[]
): Pick<ExporterFacade, 'getServiceCodes' | 'telemetryPath'> => ({
  telemetryPath: '/other-metrics',
  getServiceCodes: () => codes.map((serviceCode) => ({ serviceCode, labels: {} })),
});

/** Handles a request with a facade that has service codes only. */
function send(method: string, url: string, headers: object, codes: readonly string[] = ['A']) {
  return handle({ method, url, headers: { ...headers } }, createFacade(...codes) as ExporterFacade, OPTIONS);
}

test('the response is uncacheable JSON with the configured metrics path', async () => {
  const { status, headers, body } = await send('GET', '/sd?service_code=B&x', { host: '[::1]' });
  assert.equal(status, 200);
  assert.equal(headers['Content-Type'], 'application/json');
  assert.equal(headers['Cache-Control'], 'no-store');
  assert.deepEqual(JSON.parse(String(body)), [
    { targets: ['[::1]'], labels: PROCESS_LABELS },
    { targets: ['[::1]'], labels: { ...routeLabels('A'), __metrics_path__: '/other-metrics' } },
  ]);
});

test('unusual service codes give valid UTF-8 and JSON', async () => {
  const codes = ['"\\\n\u2028</script>', LONE_SURROGATE, 'ü😀'];
  const { body } = await send('GET', '/sd', { host: 'a' }, codes);
  const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(body));
  const groups: readonly { readonly labels: Readonly<Record<string, string>> }[] = JSON.parse(text);
  assert.deepEqual(
    groups.map(({ labels }) => labels['__param_service_code']),
    [undefined, ...codes],
  );
});

for (const host of [
  'evil:80/<b>',
  'a b',
  'user@a',
  'a?b',
  'a#b',
  'a:99999',
  '[fe80::1%eth0]',
  '1.2.3.256',
  `${'a'.repeat(256)}:20928`,
  '',
]) {
  test(`the Host header "${host}" is rejected without an echo`, async () => {
    const { status, body } = await send('GET', '/sd', { host });
    assert.equal(status, 400);
    assert.equal(
      String(body),
      'Expected the Host header to be a host name or IP address with an optional port, found another value.\n',
    );
  });
}

const OVERRIDES = {
  handle: (incoming: Parameters<typeof handle>[0]) =>
    handle(incoming, createFacade('A') as ExporterFacade, OPTIONS),
};

test('over TLS, targets have the scheme https', async (t) => {
  const { port } = await startSecuredServer(t, `tls_server_config: { ${SERVER_CERTIFICATE} }`, OVERRIDES);
  const { status, body } = await requestOverHttps(port, '/sd', { headers: { host: 'localhost' } });
  assert.equal(status, 200);
  assert.match(body, /"targets":\["localhost"\].*"__scheme__":"https"/);
});
