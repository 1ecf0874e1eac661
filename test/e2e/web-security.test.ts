import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { until } from '../support/until.ts';
import { isInstalled } from '../support/installed.ts';
import { xvsExporter } from '../support/program.ts';
import type { Program } from '../support/program.ts';
import { Prometheus } from '../support/prometheus.ts';
import { certificateFolder, HASH, PASSWORD, SERVER } from '../web/guarded.ts';

const USERS = `basic_auth_users: { prometheus: ${HASH} }\n`;
const TLS = `tls_server_config: { ${SERVER}, client_ca_file: ca.pem, client_auth_type: RequireAndVerifyClientCert }\n`;
/** Nobody listens there: the exporter is up, whatever the service is. */
const SETTINGS = { XVS_UPSTREAM_BASE_URL: 'http://127.0.0.1:1', XVS_SERVICE_CODES: 'A', XVS_SECRET: 'abc' };

/** Writes a web configuration next to certificates. */
function webConfiguration(t: TestContext, yml: string): { folder: string; path: string } {
  const folder = certificateFolder(t);
  const path = join(folder, 'web.yml');
  writeFileSync(path, yml);
  return { folder, path };
}

async function started(
  path: string,
  ...flags: readonly string[]
): Promise<{ program: Program; port: string }> {
  const args = ['--web.listen-address=127.0.0.1:0', `--web.config.file=${path}`, ...flags];
  const program = xvsExporter(args, SETTINGS);
  return { program, port: await program.printed(/"port":(\d+),"msg":"Listening"/) };
}

test(
  'a real Prometheus with password, CA and client certificate scrapes it, and none without',
  { timeout: 120_000 },
  async (t) => {
    if (!isInstalled(t, 'prometheus')) return;
    const { folder, path } = webConfiguration(t, TLS + USERS);
    const { program, port } = await started(path);
    await using exporter = program;
    const ca_file = join(folder, 'ca.pem');
    const ours = { cert_file: join(folder, 'client.pem'), key_file: join(folder, 'client.key') };
    const foreign = { cert_file: join(folder, 'self-signed.pem'), key_file: join(folder, 'self-signed.key') };
    const basic_auth = { username: 'prometheus', password: PASSWORD };
    const job = (name: string, more: object) => ({
      job_name: name,
      scheme: 'https',
      static_configs: [{ targets: [`127.0.0.1:${port}`] }],
      ...more,
    });
    const letIn = { tls_config: { ca_file, ...ours }, basic_auth };
    await using prometheus = await Prometheus.withJobs([
      job('let-in', letIn),
      // Without a scheme: /sd tells it.
      {
        job_name: 'discovered',
        honor_labels: true,
        http_sd_configs: [{ url: `https://127.0.0.1:${port}/sd`, refresh_interval: '1s', ...letIn }],
        ...letIn,
      },
      job('wrong-password', {
        tls_config: { ca_file, ...ours },
        basic_auth: { ...basic_auth, password: 'sesame' },
      }),
      job('without-password', { tls_config: { ca_file, ...ours } }),
      job('without-certificate', { tls_config: { ca_file }, basic_auth }),
      job('foreign-certificate', { tls_config: { ca_file, ...foreign }, basic_auth }),
      job('without-ca', { tls_config: ours, basic_auth }),
      job('plain', { scheme: 'http', basic_auth }),
    ]);
    const ups = async () =>
      new Map((await prometheus.query('up')).map(({ metric, value }) => [metric['job'], value]));
    const found = await prometheus.until(
      ups,
      (up) => up.size === 8 && up.get('let-in') === 1 && up.get('discovered') === 1,
    );
    assert.deepEqual(
      new Set([...found].filter(([, up]) => up === 1).map(([name]) => name)),
      new Set(['let-in', 'discovered']),
    );
    for (const name of ['let-in', 'discovered'])
      assert.equal(await prometheus.value(`xvs_up{job="${name}", service_code="A"}`), 0);
    assert.deepEqual(
      [PASSWORD, HASH, 'sesame', 'Authorization'].filter((text) =>
        (exporter.stdout + exporter.stderr).includes(text),
      ),
      [],
    );
  },
);

test('healthcheck asks an exporter with TLS and passwords, where probes are open, and says so where not', async (t) => {
  const { path } = webConfiguration(t, TLS + USERS);
  for (const [flag, code, message] of [
    ['--web.open-probes', 0, /^$/],
    ['--log.level=info', 1, /^healthcheck: /],
  ] as const) {
    const { program, port } = await started(path, flag);
    await using exporter = program;
    await using health = xvsExporter(['healthcheck', `--web.listen-address=127.0.0.1:${port}`]);
    assert.equal(await health.exit, code);
    assert.match(health.stderr, message);
    assert.equal(exporter.stdout, '');
  }
});

test('healthcheck names the setting that lets it in', async (t) => {
  const { path } = webConfiguration(t, USERS);
  const { program, port } = await started(path);
  await using _exporter = program;
  await using health = xvsExporter(['healthcheck', `--web.listen-address=127.0.0.1:${port}`]);
  assert.equal(await health.exit, 1);
  assert.match(health.stderr, /found 401; web\.open_probes lets probes in\n$/);
});

test('--config.check of a good one names it, and a start says what it comes to', async (t) => {
  const { path } = webConfiguration(t, TLS + USERS);
  await using check = xvsExporter([`--web.config.file=${path}`, '--config.check'], SETTINGS);
  assert.equal(await check.exit, 0);
  assert.ok(check.stdout.includes(` ${path} `), check.stdout);
  const { program } = await started(path);
  await using exporter = program;
  assert.match(exporter.stderr, /"tls":true,"users":1,"msg":"Web configuration loaded"/);
});

test('a wrong web configuration starts nothing, and --config.check tells it', async (t) => {
  const { path } = webConfiguration(t, 'basic_auth_users: { prometheus: hunter2 }');
  for (const flags of [[], ['--config.check']]) {
    await using program = xvsExporter([`--web.config.file=${path}`, ...flags], SETTINGS);
    assert.equal(await program.exit, 2);
    assert.match(program.stderr, /web\.yml:1:33 basic_auth_users: expected a bcrypt hash/);
    assert.ok(!program.stderr.includes('hunter2'));
  }
});

test('a running exporter takes a new password from the file, and keeps the old where the file is wrong', async (t) => {
  const { path } = webConfiguration(t, USERS);
  const { program, port } = await started(path);
  await using exporter = program;
  const statusOf = async (user: string): Promise<number> => {
    const authorization = `Basic ${Buffer.from(`${user}:${PASSWORD}`).toString('base64')}`;
    const { status } = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization } });
    return status;
  };
  assert.deepEqual([await statusOf('prometheus'), await statusOf('next')], [200, 401]);
  writeFileSync(path, 'junk');
  await until(
    () => statusOf('prometheus').then(() => exporter.stderr),
    (log) => log.includes('Web configuration not loaded'),
  );
  assert.equal(await statusOf('prometheus'), 200);
  writeFileSync(path, USERS.replace('prometheus', 'next'));
  await until(
    () => statusOf('next'),
    (status) => status === 200,
  );
  assert.equal(await statusOf('prometheus'), 401);
});
