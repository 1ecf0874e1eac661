import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { isInstalled } from '../../support/installed-programs.ts';
import { startProgram } from '../../support/program.ts';
import type { Program } from '../../support/program.ts';
import { Prometheus } from '../../support/prometheus.ts';
import { certificateFolder, HASH, PASSWORD, SERVER_CERTIFICATE } from '../../unit/web/secured-server.ts';

const USERS = `basic_auth_users: { prometheus: ${HASH} }\n`;
const TLS = `tls_server_config: { ${SERVER_CERTIFICATE}, client_ca_file: ca.pem, client_auth_type: RequireAndVerifyClientCert }\n`;
/** No service listens there; the exporter runs without it. */
const SETTINGS = { XVS_UPSTREAM_BASE_URL: 'http://127.0.0.1:1', XVS_SERVICE_CODES: 'A', XVS_SECRET: 'abc' };

/** Writes a web configuration into a folder with certificates. */
function writeWebConfiguration(t: TestContext, yml: string): { folder: string; path: string } {
  const folder = certificateFolder(t);
  const path = join(folder, 'web.yml');
  writeFileSync(path, yml);
  return { folder, path };
}

async function startSecured(
  path: string,
  ...flags: readonly string[]
): Promise<{ program: Program; port: number }> {
  const args = ['--web.listen-address=127.0.0.1:0', `--web.config.file=${path}`, ...flags];
  const program = startProgram(args, SETTINGS);
  return { program, port: await program.waitForPort() };
}

test(
  'Prometheus scrapes it only with password, CA and client certificate',
  { timeout: 600_000 },
  async (t) => {
    if (!isInstalled(t, 'prometheus')) return;
    const { folder, path } = writeWebConfiguration(t, TLS + USERS);
    const { program, port } = await startSecured(path);
    await using exporter = program;
    const ca_file = join(folder, 'ca.pem');
    const client = { cert_file: join(folder, 'client.pem'), key_file: join(folder, 'client.key') };
    const selfSigned = {
      cert_file: join(folder, 'self-signed.pem'),
      key_file: join(folder, 'self-signed.key'),
    };
    const basic_auth = { username: 'prometheus', password: PASSWORD };
    const job = (name: string, overrides: object) => ({
      job_name: name,
      scheme: 'https',
      static_configs: [{ targets: [`127.0.0.1:${port}`] }],
      ...overrides,
    });
    const authorized = { tls_config: { ca_file, ...client }, basic_auth };
    await using prometheus = await Prometheus.start({
      jobs: [
        job('authorized', authorized),
        // The scheme comes from /sd.
        {
          job_name: 'discovered',
          honor_labels: true,
          http_sd_configs: [{ url: `https://127.0.0.1:${port}/sd`, refresh_interval: '1s', ...authorized }],
          ...authorized,
        },
        job('wrong-password', {
          tls_config: { ca_file, ...client },
          basic_auth: { ...basic_auth, password: 'sesame' },
        }),
        job('without-password', { tls_config: { ca_file, ...client } }),
        job('without-certificate', { tls_config: { ca_file }, basic_auth }),
        job('self-signed-certificate', { tls_config: { ca_file, ...selfSigned }, basic_auth }),
        job('without-ca', { tls_config: client, basic_auth }),
        job('plain', { scheme: 'http', basic_auth }),
      ],
    });
    const ups = async () =>
      new Map((await prometheus.query('up')).map(({ metric, value }) => [metric['job'], value]));
    const found = await prometheus.waitUntil(
      ups,
      (up) => up.size === 8 && up.get('authorized') === 1 && up.get('discovered') === 1,
    );
    assert.deepEqual(
      new Set([...found].filter(([, up]) => up === 1).map(([name]) => name)),
      new Set(['authorized', 'discovered']),
    );
    // The first scrape can come before the first poll has ended.
    for (const name of ['authorized', 'discovered']) {
      const up = () => prometheus.value(`xvs_up{job="${name}", service_code="A"}`);
      assert.equal(await prometheus.waitUntil(up, (value) => value !== undefined), 0);
    }
    assert.deepEqual(
      [PASSWORD, HASH, 'sesame', 'Authorization'].filter((text) =>
        (exporter.stdout + exporter.stderr).includes(text),
      ),
      [],
    );
  },
);

for (const [name, yml, flags, code, message] of [
  ['succeeds with TLS and passwords if probes are open', TLS + USERS, ['--web.open-probes'], 0, /^$/],
  ['fails with TLS otherwise', TLS + USERS, [], 1, /^healthcheck: /],
  ['names the setting that opens probes', USERS, [], 1, /found 401; set web\.open_probes to allow probes\n$/],
] as const)
  test(`healthcheck ${name}`, async (t) => {
    const { program, port } = await startSecured(writeWebConfiguration(t, yml).path, ...flags);
    await using exporter = program;
    await using health = startProgram(['healthcheck', `--web.listen-address=127.0.0.1:${port}`]);
    assert.equal(await health.exitCode, code);
    assert.match(health.stderr, message);
    assert.equal(exporter.stdout, '');
  });

test('an invalid web configuration prevents the start and fails --config.check', async (t) => {
  const { path } = writeWebConfiguration(t, 'basic_auth_users: { prometheus: hunter2 }');
  for (const flags of [[], ['--config.check']]) {
    await using program = startProgram([`--web.config.file=${path}`, ...flags], SETTINGS);
    assert.equal(await program.exitCode, 2);
    assert.match(program.stderr, /web\.yml:1:33 basic_auth_users\.prometheus: expected a bcrypt hash/);
    assert.ok(!program.stderr.includes('hunter2'));
  }
});
