import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { NoProxy } from '../../../../src/upstream/no-proxy.ts';
import { parseSimulatorFlags } from '../../../simulator/flags.ts';
import { startProgram } from '../../../support/program.ts';
import { startSimulatorProgram } from '../../../support/simulator-program.ts';
import { readRepositoryFile } from '../../../support/repository.ts';
import {
  listBindMounts,
  COMPOSE_FOLDER,
  readComposeService,
  readComposeVariables,
  readComposeFile,
  listReferencedVariables,
} from './compose-file.ts';

test('every container has no privileges, resource limits, a pinned version and ports on loopback only', () => {
  const { services } = readComposeFile();
  assert.deepEqual(Object.keys(services), ['exporter', 'simulator', 'prometheus', 'alertmanager', 'grafana']);
  const published = Object.values(services).flatMap(({ ports }) => ports);
  assert.equal(new Set(published).size, published.length);
});

test('every container has a healthcheck, in compose.yml or in its image', () => {
  const dockerfile = readRepositoryFile('Dockerfile');
  const without = Object.entries(readComposeFile().services).filter(
    ([, { healthcheck }]) => healthcheck === undefined,
  );
  assert.deepEqual(
    without.map(([name]) => name),
    ['exporter'],
  );
  assert.match(dockerfile, /^HEALTHCHECK /m);
});

test("no container asks another one, or itself, through Docker's proxy", () => {
  const commands = Object.values(readComposeFile().services).flatMap(({ healthcheck }) => [
    healthcheck?.test.join(' ') ?? '',
  ]);
  const byWget = commands.filter((command) => command.includes('wget'));
  assert.equal(byWget.length, 3);
  // The wget of BusyBox does not read no_proxy.
  for (const command of byWget) assert.match(command, /^CMD wget -q -Y off /);
  // Go reads it in lower case only where the other one, which Docker sets too, is missing.
  const { NO_PROXY: direct = '' } = readComposeService('grafana').environment ?? {};
  assert.ok(new NoProxy(direct).includes('http://prometheus:9090'));
});

test('containers of Node.js have an init, and the exporter and its healthcheck enough threads', () => {
  const { services } = readComposeFile();
  const built = Object.entries(services).filter(([, { build }]) => build !== undefined);
  assert.deepEqual(
    built.map(([name, { init }]) => [name, init]),
    [
      ['exporter', true],
      ['simulator', true],
    ],
  );
  assert.equal(services['exporter']?.deploy.resources.limits.pids, 128);
});

test('.env sets exactly the variables that compose.yml uses', () => {
  const used = [...listReferencedVariables(), 'COMPOSE_PROFILES'];
  assert.deepEqual(Object.keys(readComposeVariables()).toSorted(), used.toSorted());
});

test('mounts are folders, which are read-only, and only the exporter has one with secrets', () => {
  const { services, volumes } = readComposeFile();
  const mounts = Object.values(services).flatMap(listBindMounts);
  assert.equal(mounts.length, 8);
  assert.deepEqual(
    mounts.filter(({ source, options }) => !statSync(source).isDirectory() || options !== 'ro'),
    [],
  );
  const named = Object.values(services)
    .flatMap((service) => service.volumes ?? [])
    .filter((volume) => !volume.startsWith('.'));
  assert.deepEqual(
    named.map((volume) => volume.replace(/:.*/, '')).toSorted(),
    Object.keys(volumes).toSorted(),
  );
  const [, secrets] = listBindMounts(readComposeService('exporter'));
  assert.deepEqual(
    mounts.filter(({ source }) => secrets?.source.startsWith(source)),
    [secrets],
  );
});

test('a volume keeps the state of the exporter, in a folder that belongs to the user of the image', () => {
  const dockerfile = readRepositoryFile('Dockerfile');
  const [, folder = ''] = /^ +STATE_DIRECTORY=(\S+)/m.exec(dockerfile) ?? [];
  assert.match(dockerfile, new RegExp(`^COPY .*--chown=65532:65532 \\S+ ${folder}$`, 'm'));
  assert.ok(readComposeService('exporter').volumes?.includes(`exporter:${folder}`));
});

test('the exporter finds what its configuration expects at the simulated service', async () => {
  const exporter = readComposeService('exporter');
  const { build, command = [] } = readComposeService('simulator');
  assert.equal(build?.target, 'simulator');
  const [config = '', secrets = ''] = listBindMounts(exporter).map(({ source }) => source);
  const configFile = join(config, exporter.environment?.['XVS_CONFIG_FILE'] ?? '');
  const { port } = parseSimulatorFlags(command).listenAddress;
  assert.match(readFileSync(configFile, 'utf8'), new RegExp(`base_url: http://simulator:${port}\n`));
  assert.ok(new NoProxy(exporter.environment?.['no_proxy'] ?? '').includes(`http://simulator:${port}`));
  await using service = startSimulatorProgram(
    ...command.filter((flag) => !flag.startsWith('--listen-address=')),
  );
  await using once = startProgram(['once'], {
    ...exporter.environment,
    XVS_CONFIG_FILE: configFile,
    XVS_UPSTREAM_BASE_URL: await service.waitForUrl(),
    XVS_UPSTREAM_TIMEOUT: '1h',
    XVS_SECRET_FILE: join(secrets, 'demo'),
  });
  assert.equal(await once.exitCode, 0, once.stderr);
  assert.deepEqual(
    once.stdout.match(/^xvs_expected_task_up\{.*$/gm),
    ['TESTING', 'STADIUM'].flatMap((code) =>
      ['main', 'backup'].map((name) => `xvs_expected_task_up{service_code="${code}",task_name="${name}"} 1`),
    ),
  );
});

test('Prometheus has the shipped configuration with container names as hosts and another folder of rules', () => {
  const targets = ['alertmanager:9093', 'exporter:20928'];
  const own = readRepositoryFile(COMPOSE_FOLDER, 'prometheus/prometheus.yml');
  const renamed = targets.reduce(
    (text, target) => text.replace(target, target.replace(/^.*:/, 'localhost:')),
    own,
  );
  assert.deepEqual(
    parse(renamed.replace('../rules/', 'rules/')),
    parse(readRepositoryFile('deploy/prometheus/prometheus.yml')),
  );
  for (const target of targets) {
    const [name = '', port = ''] = target.split(':');
    assert.deepEqual(readComposeService(name).ports, [`127.0.0.1:${port}:${port}`]);
  }
});

test('Grafana finds its data source, its dashboards and its home dashboard', () => {
  const grafana = readComposeService('grafana');
  const at = (target: string): string =>
    listBindMounts(grafana).find((mount) => mount.target === target)?.source ?? assert.fail(target);
  const provisioned = (folder: string, name: string): string =>
    readRepositoryFile(
      'deploy/grafana/provisioning',
      folder,
      existsSync(join(at(`/etc/grafana/provisioning/${folder}/xvs`), name)) ? name : assert.fail(name),
    );
  assert.match(provisioned('datasources', 'prometheus.yml'), /^ +url: http:\/\/prometheus:9090$/m);
  const [, path = ''] = /^ +path: (\S+)$/m.exec(provisioned('dashboards', 'xvs-exporter.yml')) ?? [];
  const home = grafana.environment?.['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH'] ?? '';
  assert.ok(home.startsWith(`${path}/`));
  assert.ok(existsSync(join(at(path), home.slice(path.length))));
});

test('the healthcheck of the simulator succeeds on its port and fails on a closed port', async () => {
  const [, , ...command] = readComposeService('simulator').healthcheck?.test ?? [];
  await using simulator = startSimulatorProgram();
  const port = await simulator.waitForOutput(/ on http:\/\/127\.0\.0\.1:(\d+)/);
  const check = (target: string): number | null =>
    spawnSync(
      process.execPath,
      command.map((part) => part.replace('20140', target)),
    ).status;
  assert.equal(check(port), 0);
  assert.equal(check('1'), 1);
});
