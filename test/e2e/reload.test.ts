import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { constants, mkdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { test } from 'node:test';
import { xvsExporter, type Program } from '../support/program.ts';
import { TemporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { Exporter } from './running-exporter.ts';

/** In this world no task of the first code ends within the first minutes: what it got then is all in its listings. */
const WORLD = ['--seed=122', '--tasks=12', '--users=20'];
const CODES = ['STAYS:secret-of-one', 'GOES:secret-of-two', 'COMES:secret-of-three'];

function simulate(): Program {
  const codes = CODES.map((code) => `--service-code=${code}`);
  return xvsExporter(['simulate', '--listen-address=127.0.0.1:0', '--control', ...WORLD, ...codes]);
}

interface Account {
  readonly input_bytes_pushed: number;
  readonly http_output_bytes_pushed: number;
}

/** The service as its operator sees it. */
class Service {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  /** From now on nothing flows for the first code; what did is accounted for. */
  async freeze(): Promise<Account> {
    const body = JSON.stringify({ fault: 'freeze_ingest', serviceCode: 'STAYS' });
    await fetch(`${this.url}/-/faults`, { method: 'PUT', body });
    const response = await fetch(`${this.url}/-/account?service_code=STAYS`);
    return JSON.parse(await response.text()) as Account;
  }

  async thaw(): Promise<void> {
    await fetch(`${this.url}/-/faults?service_code=STAYS`, { method: 'DELETE' });
  }
}

/** The file, with what each code has in it. */
function configuration(url: string, codes: Readonly<Record<string, string>>, more = ''): string {
  const entries = Object.entries(codes).map(
    ([code, settings]) => `  - { service_code: ${code}, ${settings} }`,
  );
  return `upstream: { base_url: "${url}" }\npoll: { interval: 1s }\nservice_codes:\n${entries.join('\n')}\n${more}`;
}

const STAYS = { STAYS: 'secret_file: one' };
const GOES = { GOES: 'secret_file: two' };
const STAYS_WITH_SECRET = { STAYS: 'secret: secret-of-one' };
const COMES = { COMES: 'secret: secret-of-three, interval: 1h' };

test('codes come, go and change while the exporter runs, and no byte of one that stays is lost', async () => {
  using folder = new TemporaryFolder();
  await using simulator = simulate();
  const service = new Service(await simulator.printed(/ on (http:\S+)/));
  const write = (codes: Readonly<Record<string, string>>, more?: string): void =>
    folder.replace('config.yml', configuration(service.url, codes, more));
  const before = await service.freeze();
  folder.replace('one', 'secret-of-one\n');
  folder.replace('two', 'the-wrong-one\n');
  write({ ...STAYS, ...GOES });
  const flags = [`--config.file=${folder.at('config.yml')}`, '--web.listen-address=127.0.0.1:0'];
  await using program = xvsExporter([...flags, '--web.enable-lifecycle']);
  const exporter = await Exporter.of(program);
  await exporter.isUp('STAYS');
  await until(
    () => exporter.sum('xvs_ret', 'GOES'),
    (ret) => ret === 1005,
  );
  await service.thaw();

  // A secret is rotated, and the exporter told by a signal.
  folder.replace('two', 'secret-of-two\n');
  program.signal('SIGHUP');
  const rotated = await exporter.logged(/\{[^{]*"msg":"Configuration reloaded"\}/);
  assert.match(rotated, /"trigger":"signal","added":0,"changed":1,"kept":1,"removed":0/);
  await exporter.isUp('GOES');

  // A code comes: its interval is an hour, so this is the poll that it begins with.
  write({ ...STAYS, ...GOES, ...COMES });
  assert.deepEqual(await exporter.reload(), [200, 'xvs-exporter has reloaded its configuration.\n']);
  await exporter.isUp('COMES');
  assert.equal(await exporter.status('/-/ready'), 200);

  // A code goes, and with it all its series.
  write({ ...STAYS, ...COMES });
  assert.equal((await exporter.reload())[0], 200);
  assert.doesNotMatch(await exporter.metrics(), /service_code="GOES"/);
  assert.equal(await exporter.status('/metrics?service_code=GOES'), 404);

  // A file that is wrong changes nothing.
  const loaded = await exporter.sum('xvs_exporter_config_last_reload_success_timestamp_seconds');
  write({ ...STAYS, ...GOES, WRONG: 'secret: [secret-that-is-a-list]' });
  await exporter.logged(/removed":1,"msg":"Configuration reloaded/);
  const [status, message] = await exporter.reload();
  assert.equal(status, 500);
  assert.match(message, /config\.yml:6:36 service_codes\[2\]\.secret: expected a secret .*, found a list\n$/);
  await exporter.logged(
    /"level":"error".*"trigger":"request".*found a list","msg":"Configuration not reloaded"/,
  );
  assert.equal(await exporter.sum('xvs_exporter_config_last_reload_successful'), 0);
  assert.equal(await exporter.sum('xvs_exporter_config_last_reload_success_timestamp_seconds'), loaded);
  assert.doesNotMatch(await exporter.metrics(), /service_code="GOES"/);

  // A good one is taken again, but for what needs a restart.
  write({ ...STAYS, ...COMES }, 'log: { level: debug }\nweb: { max_requests: 1 }\n');
  assert.equal((await exporter.reload())[0], 200);
  await exporter.logged(
    /"settings":\["web.max_requests","log.level"\],"msg":"Settings have changed that need a restart"/,
  );
  assert.equal(await exporter.sum('xvs_exporter_config_last_reload_successful'), 1);

  const after = await service.freeze();
  for (const [family, field] of [
    ['xvs_input_bytes_total', 'input_bytes_pushed'],
    ['xvs_http_output_bytes_total', 'http_output_bytes_pushed'],
  ] as const) {
    const pushed = after[field] - before[field];
    assert.ok(pushed > 1_000_000);
    await until(
      () => exporter.sum(family, 'STAYS'),
      (counted) => counted === pushed,
    );
  }
  // Nothing but what flowed: two polls later it is the same.
  const polls = (await exporter.sum('xvs_exporter_polls_total', 'STAYS')) ?? 0;
  await until(
    () => exporter.sum('xvs_exporter_polls_total', 'STAYS'),
    (now) => (now ?? 0) >= polls + 2,
  );
  const counted = await exporter.sum('xvs_input_bytes_total', 'STAYS');
  assert.equal(counted, after.input_bytes_pushed - before.input_bytes_pushed);
  assert.match(exporter.written, /Starting xvs-exporter/);
  assert.doesNotMatch(exporter.written + message, /secret-of|secret-that|wrong-one/);
});

test('a new secret in a folder of Kubernetes, and a new code in the file, are taken by themselves', async () => {
  using folder = new TemporaryFolder();
  await using simulator = simulate();
  const url = await simulator.printed(/ on (http:\S+)/);
  /** What a Secret or ConfigMap looks like in a pod, and changes like. */
  const mount = (version: string, files: Readonly<Record<string, string>>): void => {
    mkdirSync(folder.at(`..${version}`));
    for (const [name, text] of Object.entries(files)) folder.replace(`..${version}/${name}`, text);
    folder.link('..data', `..${version}`);
  };
  mount('1', { 'config.yml': configuration(url, STAYS), one: 'the-wrong-one' });
  for (const name of ['config.yml', 'one']) folder.link(name, `..data/${name}`);
  const flags = [`--config.file=${folder.at('config.yml')}`, '--web.listen-address=127.0.0.1:0'];
  await using program = xvsExporter([...flags, '--config.auto-reload']);
  const exporter = await Exporter.of(program);
  await exporter.logged(/"service_code":"STAYS".*"msg":"Poll failed"/);

  mount('2', { 'config.yml': configuration(url, { ...STAYS, ...COMES }), one: 'secret-of-one' });
  await exporter.logged(
    /"trigger":"file","added":1,"changed":1,"kept":0,"removed":0,"msg":"Configuration reloaded"/,
  );
  await exporter.isUp('STAYS');
  await exporter.isUp('COMES');

  mount('3', { 'config.yml': 'service_codes: 7\n', one: 'secret-of-one' });
  await exporter.logged(/"level":"error".*"trigger":"file".*"msg":"Configuration not reloaded"/);
  assert.equal(await exporter.sum('xvs_exporter_config_last_reload_successful'), 0);
  await exporter.isUp('STAYS');
});

test('a reload by request has to be enabled; by signal it need not be', async () => {
  await using program = xvsExporter(['--web.listen-address=127.0.0.1:0'], {
    XVS_UPSTREAM_BASE_URL: 'http://127.0.0.1:1',
    XVS_SERVICE_CODES: 'TESTING',
    XVS_SECRET: 'abc',
  });
  const exporter = await Exporter.of(program);
  const [status, line] = await exporter.reload();
  assert.deepEqual(
    [status, line],
    [403, 'Reloading by request is not enabled: see --web.enable-lifecycle.\n'],
  );
  assert.equal(await exporter.status('/-/reload'), 405);
  program.signal('SIGHUP');
  await exporter.logged(
    /"trigger":"signal","added":0,"changed":0,"kept":1,"removed":0,"msg":"Configuration reloaded"/,
  );
});

test('a reload that is asked for before there is anything to reload comes as soon as there is', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('config.yml');
  execFileSync('mkfifo', [path]);
  await using program = xvsExporter([`--config.file=${path}`, '--web.listen-address=127.0.0.1:0']);
  /** Writes what the program reads, as soon as it does; until then it waits, and for the end of what is written. */
  const write = async (text: string, meanwhile = () => {}): Promise<void> => {
    const flags = constants.O_WRONLY | constants.O_NONBLOCK;
    const pipe = await until(
      () => open(path, flags).catch(() => undefined),
      (opened) => opened !== undefined,
    );
    assert.ok(pipe !== undefined);
    meanwhile();
    await pipe.writeFile(text);
    await pipe.close();
  };
  await write(configuration('http://127.0.0.1:1', STAYS_WITH_SECRET), () => program.signal('SIGHUP'));
  await program.printed(/Starting xvs-exporter/);
  await write(configuration('http://127.0.0.1:1', { ...STAYS_WITH_SECRET, ...COMES }));
  await program.printed(
    /"trigger":"signal","added":1,"changed":0,"kept":1,"removed":0,"msg":"Configuration reloaded"/,
  );
  program.signal('SIGTERM');
  assert.equal(await program.exit, 0);
});
