import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { deployedText, deployedYaml } from '../support/deployed.ts';
import { isInstalled } from '../support/installed.ts';
import { xvsExporter, type Program } from '../support/program.ts';
import { Prometheus } from '../support/prometheus.ts';
import { quicken } from '../support/quicker.ts';

/** In this world no task ends within the first minutes. */
const SIMULATE = [
  'simulate',
  '--listen-address=127.0.0.1:0',
  '--service-code=TESTING:abc',
  '--seed=122',
  '--users=20',
  '--tasks=12',
  '--control',
];

function exporterOf(url: string, ...args: readonly string[]): Program {
  return xvsExporter(['--poll.mode=scrape', '--web.listen-address=127.0.0.1:0', ...args], {
    XVS_UPSTREAM_BASE_URL: url,
    XVS_SERVICE_CODES: 'TESTING',
    XVS_SECRET: 'abc',
  });
}

const urlOf = (program: Program): Promise<string> => program.printed(/ on (http:\S+)/);
const portOf = (program: Program): Promise<string> => program.printed(/"port":(\d+),"msg":"Listening"/);

test('while the service hangs, the target stays up for a real Prometheus, and xvs_up says what was last known', async (t) => {
  if (!isInstalled(t, 'prometheus')) return;
  await using service = xvsExporter(SIMULATE);
  const url = await urlOf(service);
  await using exporter = exporterOf(url, '--poll.interval=2s', '--poll.min-age=1s', '--upstream.timeout=5s');
  const target = `127.0.0.1:${await portOf(exporter)}`;
  await using prometheus = await Prometheus.withJobs([
    {
      job_name: 'xvs-exporter',
      scrape_interval: '2s',
      scrape_timeout: '2s',
      static_configs: [{ targets: [target] }],
    },
  ]);
  const reaches = (expression: string, wanted: number) =>
    prometheus.until(
      () => prometheus.value(expression),
      (value) => value === wanted,
    );
  await reaches('xvs_up', 1);
  await fetch(`${url}/-/faults`, { method: 'PUT', body: '{"fault":"silence"}' });
  await reaches('xvs_up', 0);
  // The poll lasts five seconds, and so more than two scrapes were answered while it ran.
  await prometheus.until(
    () => prometheus.value('max_over_time(scrape_duration_seconds[30s])'),
    (seconds) => (seconds ?? 0) > 1.4,
  );
  assert.equal(await prometheus.value('min_over_time(up[1m])'), 1);
  assert.ok(((await prometheus.value('max_over_time(scrape_duration_seconds[1m])')) ?? 2) < 2);
  await fetch(`${url}/-/faults`, { method: 'DELETE' });
  await reaches('xvs_up', 1);
  assert.equal(await prometheus.value('min_over_time(up[1m])'), 1);
});

test('while all is well, no shipped alert fires, or is about to', { timeout: 120_000 }, async (t) => {
  if (!isInstalled(t, 'prometheus')) return;
  await using service = xvsExporter(SIMULATE);
  await using exporter = exporterOf(await urlOf(service), '--poll.interval=1s', '--poll.min-age=500ms');
  // A quarter of a minute is a second, of the rules as of the scrapes.
  await using prometheus = await Prometheus.alerting(`127.0.0.1:${await portOf(exporter)}`, {
    rules: deployedYaml('prometheus/rules').map((name) => quicken(deployedText(name), 15)),
    alertmanager: '127.0.0.1:9',
  });
  await prometheus.until(
    () => prometheus.value('service_code:xvs_tasks:sum'),
    (tasks) => (tasks ?? 0) > 0,
  );
  // What the first moments look like is not what it looks like afterwards.
  await delay(30_000);
  assert.deepEqual(await prometheus.query('last_over_time(ALERTS[10s])'), []);
  const age =
    'max_over_time((time() - service_code:xvs_exporter_last_success_timestamp_seconds:max)[10s:1s])';
  assert.ok(((await prometheus.value(age)) ?? 99) < 5, 'Expected a listing of the last scrape');
});
