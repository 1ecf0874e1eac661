import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { xvsExporter, type Program } from '../support/program.ts';
import { TemporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { Exporter } from './running-exporter.ts';

const CODES = ['STAYS', 'GOES', 'COMES', 'LINKED'];

function simulate(codes: readonly string[], ...world: readonly string[]): Program {
  const flags = codes.map((code) => `--service-code=${code}:secret-of-${code}`);
  return xvsExporter(['simulate', '--listen-address=127.0.0.1:0', ...world, ...flags]);
}

/** An exporter whose codes are all in files of the folder `codes`. */
async function exporting(folder: TemporaryFolder, url: string, interval: string): Promise<Program> {
  folder.replace(
    'config.yml',
    `upstream: { base_url: "${url}" }\npoll: { interval: ${interval} }\nservice_code_files: [codes/*.yml, codes/*.json]\n`,
  );
  const flags = [`--config.file=${folder.at('config.yml')}`, '--web.listen-address=127.0.0.1:0'];
  return xvsExporter(flags);
}

const entry = (code: string, labels: Readonly<Record<string, string>> = {}) => ({
  service_code: code,
  secret: `secret-of-${code}`,
  labels,
});

test(
  'codes come and go with their files, and the counters of one that stays go on',
  { timeout: 120_000 },
  async () => {
    using folder = new TemporaryFolder();
    mkdirSync(folder.at('codes'));
    await using simulator = simulate(CODES, '--seed=122', '--tasks=5', '--users=5');
    const url = await simulator.printed(/ on (http:\S+)/);
    await using program = await exporting(folder, url, '1s');
    const exporter = await Exporter.of(program);

    // Nothing yet: that is no mistake.
    assert.equal(await exporter.status('/-/ready'), 200);
    assert.equal(await exporter.sum('xvs_exporter_config_last_reload_successful'), 1);
    assert.match(await exporter.text('/'), /No service code is polled here/);

    // They come: by JSON, by YAML whose secret is beside it, and by what Kubernetes mounts.
    const mount = (version: string, code: string): void => {
      mkdirSync(folder.at(`codes/..${version}`));
      folder.replace(
        `codes/..${version}/linked.yml`,
        `- { service_code: ${code}, secret: secret-of-${code} }`,
      );
      folder.link('codes/..data', `..${version}`);
    };
    mount('1', 'LINKED');
    folder.link('codes/linked.yml', '..data/linked.yml');
    folder.replace('codes/own-secret', 'secret-of-GOES\n');
    folder.replace('codes/goes.yml', '- service_code: GOES\n  secret_file: own-secret\n');
    folder.replace('codes/stays.json', JSON.stringify([entry('STAYS', { tenant: 'acme' })]));
    await exporter.logged(
      /"trigger":"file","added":3,"changed":0,"kept":0,"removed":0,"msg":"Configuration reloaded"/,
    );
    for (const code of ['STAYS', 'GOES', 'LINKED']) await exporter.isUp(code);
    assert.match(await exporter.metrics(), /xvs_up\{service_code="STAYS",tenant="acme"\} 1/);
    const before = (await exporter.sum('xvs_input_bytes_total', 'STAYS')) ?? 0;
    const polls = (await exporter.sum('xvs_exporter_polls_total', 'STAYS')) ?? 0;

    // One file goes, another one's link turns, and other labels disturb nobody.
    folder.remove('codes/goes.yml');
    mount('2', 'COMES');
    folder.replace('codes/stays.json', JSON.stringify([entry('STAYS', { tenant: 'globex', env: 'test' })]));
    await exporter.logged(
      /"added":1,"changed":0,"kept":1,"removed":2,"relabelled":1,"msg":"Configuration reloaded"/,
    );
    await exporter.isUp('COMES');
    const text = await exporter.metrics();
    assert.match(text, /xvs_up\{service_code="STAYS",env="test",tenant="globex"\} 1/);
    assert.match(
      text,
      /xvs_input_bytes_total\{service_code="STAYS",vs_id="[^"]+",env="test",tenant="globex"\} /,
    );
    assert.doesNotMatch(text, /GOES|LINKED|acme/);
    assert.ok(((await exporter.sum('xvs_exporter_polls_total', 'STAYS')) ?? 0) >= polls);
    await until(
      () => exporter.sum('xvs_input_bytes_total', 'STAYS'),
      (now) => (now ?? 0) > before,
    );

    // A file that is wrong changes nothing, and says where it is.
    folder.replace('codes/stays.json', `[${JSON.stringify(entry('STAYS'))},\n {"service_code": 7}]`);
    const line = await exporter.logged(/\{[^{]*"msg":"Configuration not reloaded"\}/);
    assert.match(line, /codes\/stays\.json:2:19 \[1\]\.service_code: expected a service code .*, found 7/);
    assert.equal(await exporter.sum('xvs_exporter_config_last_reload_successful'), 0);
    assert.match(await exporter.metrics(), /xvs_up\{service_code="STAYS",env="test",tenant="globex"\} 1/);

    // Mended, it is taken again, and only then.
    folder.replace('codes/stays.json', JSON.stringify([entry('STAYS')]));
    await exporter.logged(
      /"added":0,"changed":0,"kept":2,"removed":0,"relabelled":1,"msg":"Configuration reloaded"/,
    );
    assert.match(await exporter.metrics(), /xvs_up\{service_code="STAYS"\} 1/);
    assert.equal(await exporter.sum('xvs_exporter_config_last_reload_successful'), 1);
    assert.equal(exporter.written.match(/Configuration reloaded/g)?.length, 3);
    assert.doesNotMatch(exporter.written, /secret-of/);
  },
);

test('three thousand codes come at once, and each is polled', { timeout: 60_000 }, async () => {
  using folder = new TemporaryFolder();
  mkdirSync(folder.at('codes'));
  const codes = Array.from({ length: 3000 }, (_, at) => `CODE-${at}`);
  await using simulator = simulate(codes, '--tasks=0', '--users=1');
  const url = await simulator.printed(/ on (http:\S+)/);
  await using program = await exporting(folder, url, '5s');
  const exporter = await Exporter.of(program);
  const entries = codes.map((code, at) => entry(code, { tenant: `tenant-${at % 100}` }));
  for (let part = 0; part < 3; part += 1)
    folder.replace(`codes/${part}.json`, JSON.stringify(entries.slice(part * 1000, part * 1000 + 1000)));
  program.signal('SIGHUP');
  await exporter.logged(/"added":3000,"changed":0,"kept":0,"removed":0,"msg":"Configuration reloaded"/);
  const ups = async (): Promise<number> =>
    (await exporter.metrics()).match(/^xvs_up\{service_code="CODE-\d+",tenant="tenant-\d+"\} 1$/gm)?.length ??
    0;
  await until(ups, (up) => up === 3000);
  assert.equal(await exporter.status('/-/healthy'), 200);
});

test('where there is no code yet, checking and polling once say so', async () => {
  using folder = new TemporaryFolder();
  folder.replace(
    'config.yml',
    'upstream: { base_url: "http://127.0.0.1:1" }\nservice_code_files: ["*.json"]\n',
  );
  const run = async (...args: readonly string[]): Promise<readonly [number | null, string, string]> => {
    await using program = xvsExporter([...args, `--config.file=${folder.at('config.yml')}`]);
    return [await program.exit, program.stdout, program.stderr];
  };
  const [exit, stdout, stderr] = await run('once');
  assert.equal(exit, 0);
  assert.match(stdout, /^xvs_exporter_build_info\{/m);
  assert.match(stderr, /There is no service code to poll: service_code_files names none by now\./);
  const [, checked] = await run('--config.check');
  assert.match(
    checked,
    /valid: 0 service codes\.\n[^]*\nFiles of service codes: none by now\.\n\nService codes: none\.\n$/,
  );

  folder.replace('a.json', JSON.stringify([entry('A', { tenant: 'acme' }), entry('B')]));
  folder.replace('b.json', '[]');
  const [, found] = await run('--config.check');
  assert.match(
    found,
    /\nFiles of service codes:\n {2}file +service codes\n {2}\S+a\.json +2\n {2}\S+b\.json +0\n\n/,
  );
  assert.match(found, /\n {2}A .*<secret of 11 bytes> {2}tenant="acme"\n {2}B .*<secret of 11 bytes>\n$/);
});
