import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExposition } from '../support/exposition-parser.ts';
import { fixture } from '../support/fixtures.ts';
import { xvsExporter, type Program } from '../support/program.ts';

const manifest: unknown = JSON.parse(fixture('../../package.json').toString());

/** What the exporter needs to poll a simulator. */
const settings = (simulatorUrl: string, secret = 'abc'): Record<string, string> => ({
  XVS_UPSTREAM_BASE_URL: simulatorUrl,
  XVS_SERVICE_CODES: 'TESTING',
  XVS_SECRET: secret,
  XVS_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
});

const simulator = (...args: string[]): Program =>
  xvsExporter(['simulate', '--listen-address=127.0.0.1:0', '--users=20', '--tasks=5', '--control', ...args]);

const urlOf = (program: Program): Promise<string> => program.printed(/ on (http:\S+)/);
const portOf = (program: Program): Promise<string> => program.printed(/"port":(\d+),"msg":"Listening"/);

async function text(url: string, init?: RequestInit): Promise<string> {
  const response = await fetch(url, init);
  return await response.text();
}

test('--version names the version of the package', async () => {
  await using program = xvsExporter(['--version']);
  assert.equal(await program.exit, 0);
  assert.ok(typeof manifest === 'object' && manifest !== null && 'version' in manifest);
  assert.match(program.stdout, new RegExp(`^xvs-exporter ${String(manifest.version)} \\(Node\\.js v\\d+`));
});

test('--version names the revision where the image says it', async () => {
  await using program = xvsExporter(['--version'], { XVS_EXPORTER_REVISION: 'abc123' });
  assert.equal(await program.exit, 0);
  assert.match(program.stdout, / \(abc123, Node\.js v\d+/);
});

for (const command of ['serve', 'once', 'demo']) {
  test(`${command} --help lists flags with their defaults`, async () => {
    await using program = xvsExporter([command, '--help']);
    assert.equal(await program.exit, 0);
    assert.match(program.stdout, /--web\.listen-address=<.*default :20928/s);
  });
}

test('what is wrong before anything runs is one message and exit code 2', async (t) => {
  const table: [string, string[], string][] = [
    [
      'a command',
      ['sevre'],
      'command line: expected a command (serve, once, simulate, demo, healthcheck) or a flag, found "sevre"\n',
    ],
    [
      'a flag',
      ['--poll.intervall=5s'],
      'flag --poll.intervall: expected a known flag, found an unknown one; did you mean --poll.interval?\n',
    ],
    [
      'a flag of the simulator',
      ['simulate', '--seed=x'],
      'simulate: --seed: expected an integer from 0 to 999999999, found "x"\n',
    ],
  ];
  for (const [name, args, message] of table) {
    await t.test(name, async () => {
      await using program = xvsExporter(args);
      assert.equal(await program.exit, 2);
      assert.equal(program.stderr, message);
    });
  }
});

test('--config.check says what it understood, and no secret', async () => {
  await using program = xvsExporter(['--config.check'], settings('http://127.0.0.1:1', 'hidden-secret'));
  assert.equal(await program.exit, 0);
  assert.match(program.stdout, /TESTING\s+http:\/\/127\.0\.0\.1:1\s+15s .*<secret of 13 bytes>/);
  assert.doesNotMatch(program.stdout + program.stderr, /hidden-secret/);
});

test('once prints the exposition of one poll and ends with 0, or with 1 if it failed', async () => {
  await using service = simulator();
  await using good = xvsExporter(['once'], settings(await urlOf(service)));
  assert.equal(await good.exit, 0);
  const { families } = parseExposition(good.stdout, 'text');
  assert.equal(families.get('xvs_up')?.samples[0]?.value, 1);

  await using bad = xvsExporter(['once'], settings(await urlOf(service), 'wrong'));
  assert.equal(await bad.exit, 1);
  assert.match(bad.stdout, /^xvs_up\{service_code="TESTING"\} 0$/m);
  assert.match(bad.stdout, /^xvs_ret\{service_code="TESTING"\} 1005$/m);
});

test('once --explain tells of each poll instead, and no other command knows the flag', async () => {
  await using service = simulator();
  await using good = xvsExporter(['once', '--explain'], settings(await urlOf(service)));
  assert.equal(await good.exit, 0);
  assert.match(good.stdout, /^TESTING\n {2}request {7}GET (?:.*\n)+ {2}result {8}good\n$/);
  await using bad = xvsExporter(['once', '--explain'], settings(await urlOf(service), 'wrong'));
  assert.equal(await bad.exit, 1);
  assert.match(bad.stdout, /refused the request with ret 1005/);
  await using other = xvsExporter(['--explain'], settings(await urlOf(service)));
  assert.equal(await other.exit, 2);
  assert.match(other.stderr, /^flag --explain: expected a known flag/);
});

test('it serves, is found healthy, and ends with 0 on SIGTERM', async () => {
  await using service = simulator();
  await using exporter = xvsExporter([], settings(await urlOf(service)));
  const port = await portOf(exporter);
  await exporter.printed(/Poll succeeded/);
  const base = `http://127.0.0.1:${port}`;
  assert.match(await text(`${base}/metrics`), /^xvs_up\{service_code="TESTING"\} 1$/m);
  assert.equal(await text(`${base}/-/ready`), 'xvs-exporter is ready.\n');
  await using health = xvsExporter(['healthcheck', `--web.listen-address=127.0.0.1:${port}`]);
  assert.equal(await health.exit, 0);
  exporter.signal('SIGTERM');
  assert.equal(await exporter.exit, 0);
  await using sick = xvsExporter(['healthcheck', `--web.listen-address=127.0.0.1:${port}`]);
  assert.equal(await sick.exit, 1);
});

test('it starts while the service is down, and is up once the service is', async () => {
  await using service = simulator();
  const url = await urlOf(service);
  await fetch(`${url}/-/faults`, { method: 'PUT', body: '{"fault":"refuse"}' });
  await using exporter = xvsExporter(['--poll.interval=1s'], settings(url));
  await exporter.printed(/Poll failed/);
  await fetch(`${url}/-/faults`, { method: 'DELETE' });
  await exporter.printed(/Poll succeeded/);
});

test('an address that is taken is told in one line, with exit code 1', async () => {
  await using service = simulator();
  const taken = new URL(await urlOf(service)).host;
  await using exporter = xvsExporter([`--web.listen-address=${taken}`], settings('http://127.0.0.1:1'));
  assert.equal(await exporter.exit, 1);
  assert.match(exporter.stderr, /"error":"listen EADDRINUSE[^"]*","msg":"Cannot start"/);
});

test('the demo runs both, with rising bytes, and ends with 0 on Ctrl-C', async () => {
  await using demo = xvsExporter(['demo', '--web.listen-address=127.0.0.1:0', '--poll.interval=1s']);
  const metrics = await demo.printed(/(http:\S+\/metrics)/);
  const bytes = async (): Promise<number> => {
    const { families } = parseExposition(await text(metrics), 'text');
    const samples = families.get('xvs_input_bytes_total')?.samples ?? [];
    return samples.reduce((sum, { value }) => sum + value, 0);
  };
  await demo.printed(/Poll succeeded.*service_code=STADIUM/);
  let last = await bytes();
  // Every scrape sees at least what the one before saw, and in the end more.
  while (last === 0) {
    const now = await bytes();
    assert.ok(now >= last);
    last = now;
  }
  demo.signal('SIGINT');
  assert.equal(await demo.exit, 0);
});

test('no secret, signature, live URL or opaque shows anywhere, whatever the service does', async () => {
  const secret = 'very-secret-0123456789';
  await using service = simulator(`--service-code=TESTING:${secret}`);
  const url = await urlOf(service);
  const flags = ['--log.level=debug', '--poll.interval=1s', '--upstream.timeout=900ms', '--metrics.per-task'];
  await using exporter = xvsExporter(flags, settings(url, secret));
  const base = `http://127.0.0.1:${await portOf(exporter)}`;
  let seen = '';
  const look = async (): Promise<void> => {
    for (const path of ['/', '/service-codes/TESTING', '/metrics', '/nothing', '/-/ready'])
      seen += await text(base + path);
    seen += await text(`${base}/metrics`, { headers: { accept: 'application/openmetrics-text' } });
  };
  await exporter.printed(/Poll succeeded/);
  await look();
  for (const fault of [
    { fault: 'reset_body' },
    { fault: 'html' },
    { fault: 'truncate' },
    { fault: 'redirect' },
    { fault: 'bad_record' },
  ]) {
    exporter.stderr = '';
    await fetch(`${url}/-/faults`, { method: 'PUT', body: JSON.stringify(fault) });
    await exporter.printed(/Poll failed|Left out entries/);
    await look();
    seen += exporter.stderr;
    await fetch(`${url}/-/faults`, { method: 'DELETE' });
  }
  seen += exporter.stdout + exporter.stderr;
  assert.ok(seen.includes('xvs_task_info'));
  assert.doesNotMatch(seen, /very-secret|[0-9a-f]{64}|\/live\/|rtmp:\/\/|%7B|opaque|user_name/);
});
