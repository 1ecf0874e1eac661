import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { AttackedExporter } from '../../e2e/attack/attacked-exporter.ts';
import { SMALL_LISTING } from '../../e2e/attack/listing-attack.ts';
import { fixturePath, readFixture, readIdentity } from '../../support/fixtures.ts';
import { SETTINGS, startProgram } from '../../support/program.ts';
import { serveHttps } from '../../support/servers.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';

const POLLS = 30;
const HANGING_CODES = Array.from({ length: 60 }, (_, index) => `HANGING-${index}`);

test(`${HANGING_CODES.length} codes whose polls time out cost the codes of another service no TLS handshake`, async (t) => {
  // However late a poll is, its connection is still open.
  const identity = { ...readIdentity('server'), keepAliveTimeout: 60_000 };
  const requests = new Map<string, number>();
  // A service that has had no response since the last time-out has no connection to lose.
  const answerSome = (url: string, response: ServerResponse): void => {
    const code = new URL(url, 'http://service').searchParams.get('service_code') ?? '';
    const count = requests.get(code) ?? 0;
    if (count % 3 === 0) response.end(SMALL_LISTING);
    requests.set(code, count + 1);
  };
  const hangingUrl = await serveHttps(t, identity, ({ url = '' }, response) => answerSome(url, response));
  const sockets = new Set<unknown>();
  let polls = 0;
  const url = await serveHttps(t, identity, ({ socket }, response) => {
    sockets.add(socket);
    polls += 1;
    response.end(SMALL_LISTING);
  });
  using folder = new TemporaryFolder();
  const codes = HANGING_CODES.map(
    (code) => `{ service_code: ${code}, base_url: "${hangingUrl}", timeout: 500ms }`,
  );
  folder.replace('xvs.yml', `service_codes: [HEALTHY, ${codes.join(', ')}]`);
  await using _exporter = await AttackedExporter.start({
    XVS_CONFIG_FILE: folder.at('xvs.yml'),
    XVS_SERVICE_CODES: '',
    XVS_UPSTREAM_BASE_URL: url,
    XVS_UPSTREAM_CA_FILE: fixturePath('tls/ca.pem'),
    XVS_POLL_INTERVAL: '1s',
  });
  await waitUntil(
    () => Promise.resolve(polls),
    (count) => count >= POLLS,
  );
  assert.equal(requests.size, HANGING_CODES.length);
  assert.equal(sockets.size, 1);
});

test('authorities that have signed each other are a wrong configuration, and take no memory', async () => {
  using folder = new TemporaryFolder();
  const circle = ['circle-a-earlier', 'circle-a', 'circle-b'].map((name) =>
    readFixture(`tls/${name}.pem`).toString(),
  );
  folder.replace('ca.pem', circle.join(''));
  await using program = startProgram([], { ...SETTINGS, XVS_UPSTREAM_CA_FILE: folder.at('ca.pem') });
  assert.equal(await program.exitCode, 2);
  assert.match(program.stderr, /found a circle of/);
});
