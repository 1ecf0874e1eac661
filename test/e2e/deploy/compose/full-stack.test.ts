import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';
import { ALERTMANAGER } from '../../../support/alertmanager.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { Program, startProgram } from '../../../support/program.ts';
import { repositoryPath, readRepositoryFile } from '../../../support/repository.ts';
import { waitUntil } from '../../../support/wait-until.ts';
import { listBindMounts, COMPOSE_FOLDER, readComposeService, readComposeFile } from './compose-file.ts';

const rulesResponseSchema = z.object({
  data: z.object({ groups: z.array(z.object({ rules: z.array(z.object({ health: z.string() })) })) }),
});
const targetsResponseSchema = z.object({
  data: z.object({ activeTargets: z.array(z.object({ scrapePool: z.string(), health: z.string() })) }),
});
const alertmanagersResponseSchema = z.object({
  data: z.object({ activeAlertmanagers: z.array(z.object({ url: z.string() })) }),
});

/** Returns the command of a service with addresses and paths of the container replaced by those of the host. */
function createLocalCommand(
  service: string,
  replacements: Readonly<Record<string, string>>,
): readonly string[] {
  const paths = listBindMounts(readComposeService(service)).map(
    ({ target, source }) => [target, source] as const,
  );
  const all = [...Object.entries(replacements), ...paths];
  return (readComposeService(service).command ?? []).map((argument) =>
    all.reduce((text, [from, to]) => text.replace(from, to), argument),
  );
}

async function fetchJson<T>(url: string, schema: z.ZodType<T>): Promise<T> {
  return schema.parse(await (await fetch(url)).json());
}

test('the commands of the containers work together: scrapes, rules and Alertmanager', async (t) => {
  if (!isInstalled(t, 'prometheus') || !isInstalled(t, ALERTMANAGER)) return;
  const folder = mkdtempSync(join(tmpdir(), 'xvs-compose-'));
  try {
    await using simulator = startProgram(createLocalCommand('simulator', { '0.0.0.0:20140': '127.0.0.1:0' }));
    await using exporter = startProgram(readComposeService('exporter').command ?? [], {
      ...readComposeService('exporter').environment,
      XVS_UPSTREAM_BASE_URL: await simulator.waitForUrl(),
      XVS_SECRET_FILE: repositoryPath(COMPOSE_FOLDER, readComposeFile().secrets['xvs']?.file ?? ''),
      XVS_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
    });
    const loopback = '--web.listen-address=127.0.0.1:0';
    await using alertmanager = new Program(ALERTMANAGER, [
      ...createLocalCommand('alertmanager', { '=/alertmanager': `=${join(folder, 'alertmanager')}` }),
      loopback,
    ]);
    const config = readRepositoryFile(COMPOSE_FOLDER, 'prometheus.yml')
      .replace('exporter:20928', `127.0.0.1:${await exporter.waitForPort()}`)
      .replace('alertmanager:9093', await alertmanager.waitForOutput(/msg="Listening on" address=(\S+)/))
      .replace('rules/', `${repositoryPath('deploy/prometheus/rules')}/`)
      .replaceAll(/_interval: 15s/g, '_interval: 1s');
    writeFileSync(join(folder, 'prometheus.yml'), config);
    await using prometheus = new Program('prometheus', [
      ...createLocalCommand('prometheus', {
        '/etc/prometheus/prometheus.yml': join(folder, 'prometheus.yml'),
        '=/prometheus': `=${join(folder, 'prometheus')}`,
      }),
      loopback,
    ]);
    const api = `http://${await prometheus.waitForOutput(/msg="Listening on" address=(\S+)/)}/api/v1`;
    const rules = await waitUntil(
      () => fetchJson(`${api}/rules`, rulesResponseSchema),
      ({ data }) =>
        data.groups.length > 0 &&
        data.groups.every((group) => group.rules.every(({ health }) => health === 'ok')),
    );
    assert.ok(rules.data.groups.length > 3);
    await waitUntil(
      () => fetchJson(`${api}/targets`, targetsResponseSchema),
      ({ data }) => data.activeTargets.length === 1 && data.activeTargets[0]?.health === 'up',
    );
    const heard = await waitUntil(
      () => fetchJson(`${api}/alertmanagers`, alertmanagersResponseSchema),
      ({ data }) => data.activeAlertmanagers.length > 0,
    );
    assert.equal(heard.data.activeAlertmanagers.length, 1);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the healthcheck of the simulator succeeds on its port and fails on a closed port', async () => {
  const [, , ...command] = readComposeService('simulator').healthcheck?.test ?? [];
  await using simulator = startProgram(['simulate', '--listen-address=127.0.0.1:0']);
  const port = await simulator.waitForOutput(/ on http:\/\/127\.0\.0\.1:(\d+)/);
  const check = (target: string): number | null =>
    spawnSync(
      process.execPath,
      command.map((part) => part.replace('20140', target)),
    ).status;
  assert.equal(check(port), 0);
  assert.equal(check('1'), 1);
});
