import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDeployFile, listDeployYaml } from '../../support/deploy-files.ts';
import { isInstalled } from '../../support/installed-programs.ts';
import { startProgram } from '../../support/program.ts';
import { Prometheus } from '../../support/prometheus.ts';
import { scaleDurations } from '../../support/scale-durations.ts';
import { startSimulatorProgram } from '../../support/simulator-program.ts';

/** With this seed, no task ends within the first minutes. */
const WORLD = ['--service-code=TESTING:abc', '--seed=122', '--users=20', '--tasks=12'];

test('no shipped alert fires while the service is healthy', { timeout: 600_000 }, async (t) => {
  if (!isInstalled(t, 'prometheus')) return;
  await using service = startSimulatorProgram(...WORLD);
  await using exporter = startProgram(
    ['--poll.mode=scrape', '--poll.interval=1s', '--poll.min-age=500ms', '--web.listen-address=127.0.0.1:0'],
    { XVS_UPSTREAM_BASE_URL: await service.waitForUrl(), XVS_SERVICE_CODES: 'TESTING', XVS_SECRET: 'abc' },
  );
  // Rules and scrapes run 15 times as fast as shipped.
  await using prometheus = await Prometheus.start({
    targets: [`127.0.0.1:${await exporter.waitForPort()}`],
    rules: listDeployYaml('prometheus/rules').map((name) => scaleDurations(readDeployFile(name), 15)),
  });
  await prometheus.waitUntil(
    () => prometheus.value('service_code:xvs_tasks:sum'),
    (tasks) => (tasks ?? 0) > 0,
  );
  // Longer than the longest `for` of the rules, so that a pending alert would fire.
  await prometheus.waitUntil(
    () => prometheus.value('count_over_time(xvs_up[1h])'),
    (samples) => (samples ?? 0) >= 30,
  );
  assert.deepEqual(await prometheus.query('last_over_time(ALERTS{alertstate="firing"}[1h])'), []);
  // On a busy machine, scrapes of 0.7 s may time out and the event loop may lag for a moment.
  const pending = 'last_over_time(ALERTS{alertname!~"XvsExporterDown|XvsExporterEventLoopLag"}[10s])';
  assert.deepEqual(await prometheus.query(pending), []);
  const age = 'max_over_time(service_code:xvs_exporter_last_success_age_seconds:min[10s])';
  assert.ok(((await prometheus.value(age)) ?? 99) < 10, 'Expected a recent listing');
});
