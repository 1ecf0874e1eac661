import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handle } from '../../../src/web/routes.ts';
import type { WebRequest } from '../../../src/web/http-messages.ts';
import { createEmptyFacade, createRequest } from './fake-facade.ts';
import { requestOverHttps, SERVER_CERTIFICATE, startSecuredServer } from './secured-server.ts';

type Labels = Readonly<Record<string, string>>;

const PROCESS_LABELS = { __metrics_path__: '/-/metrics', __scheme__: 'http' };

const routeLabels = (serviceCode: string) => ({
  __metrics_path__: '/other-metrics',
  __param_service_code: serviceCode,
  __scheme__: 'http',
  service_code: serviceCode,
});

/** Requests the targets of service codes with their labels. */
function send(codes: Readonly<Record<string, Labels>>, request: Partial<WebRequest> = {}) {
  const facade = createEmptyFacade({
    telemetryPath: '/other-metrics',
    getServiceCodes: () => Object.entries(codes).map(([serviceCode, labels]) => ({ serviceCode, labels })),
  });
  const sent = createRequest({ url: '/sd?service_code=B&x', headers: { host: '[::1]' }, ...request });
  return handle(sent, facade, {});
}

async function readGroups(...parameters: Parameters<typeof send>) {
  const { body } = await send(...parameters);
  const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(body));
  const groups: readonly { readonly targets: readonly string[]; readonly labels: Labels }[] =
    JSON.parse(text);
  return groups;
}

test('the process and each service code are targets, with scrape parameters and configured labels', async () => {
  const labels = { tenant: 'blue', env: '' };
  assert.deepEqual(await readGroups({ A: labels }), [
    { targets: ['[::1]'], labels: PROCESS_LABELS },
    { targets: ['[::1]'], labels: { ...routeLabels('A'), ...labels } },
  ]);
  assert.deepEqual(await readGroups({}), [{ targets: ['[::1]'], labels: PROCESS_LABELS }]);
  const { status, headers } = await send({});
  assert.deepEqual(
    [status, headers['Content-Type'], headers['Cache-Control']],
    [200, 'application/json', 'no-store'],
  );
});

test('through a Unix socket, targets have its path', async () => {
  const groups = await readGroups({ A: {} }, { socketPath: '/run/xvs/exporter.sock' });
  for (const { labels } of groups) assert.equal(labels['__unix_socket__'], '/run/xvs/exporter.sock');
});

test('targets are sorted by code unit, and unusual service codes give valid UTF-8 and JSON', async () => {
  const sorted = ['"\\\n\u2028</script>', '10', 'B', 'a', 'half \ud83d', 'ä', 'ü😀'];
  const groups = await readGroups(Object.fromEntries(sorted.toReversed().map((code) => [code, {}])));
  assert.deepEqual(
    groups.slice(1).map(({ labels }) => labels['service_code']),
    sorted,
  );
});

test('configured labels cannot redirect a scrape', async () => {
  const hostile = Object.fromEntries(Object.keys(routeLabels('')).map((name) => [name, 'redirected']));
  const [, group] = await readGroups({ A: hostile });
  assert.deepEqual(group?.labels, routeLabels('A'));
});

for (const host of ['evil:80/<b>', 'user@a', 'a:99999', '[fe80::1%eth0]', `${'a'.repeat(256)}:20928`, '']) {
  test(`the Host header "${host}" is rejected without an echo`, async () => {
    const { status, body } = await send({ A: {} }, { headers: { host } });
    assert.equal(status, 400);
    assert.equal(
      String(body),
      'Expected the Host header to be a host name or IP address with an optional port, found another value.\n',
    );
  });
}

test('over TLS, targets have the scheme https', async (t) => {
  const { port } = await startSecuredServer(t, `tls_server_config: { ${SERVER_CERTIFICATE} }`, {
    handle: (request) => handle(request, createEmptyFacade(), {}),
  });
  const { body } = await requestOverHttps(port, '/sd', { headers: { host: 'localhost' } });
  assert.match(body, /"targets":\["localhost"\].*"__scheme__":"https"/);
});
