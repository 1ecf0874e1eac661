import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWorld } from '../../simulator/world.ts';
import { ALERTMANAGER, Alertmanager } from '../../support/alertmanager.ts';
import { readDeployFile, listDeployYaml, readRunbookQueries } from '../../support/deploy-files.ts';
import { isInstalled } from '../../support/installed-programs.ts';
import { startProgram } from '../../support/program.ts';
import { Prometheus } from '../../support/prometheus.ts';
import { scaleDurations } from '../../support/scale-durations.ts';
import { clearFaults, setFault, startSimulatorProgram } from '../../support/simulator-program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { WebhookReceiver } from '../../support/webhook-receiver.ts';

/** Times in rules and routes are divided by this: a minute becomes a second. */
const TIME_DIVISOR = 60;
const CODE = 'TESTING';
const WORLD_OPTIONS = { users: 20, tasks: 30, seed: 1 };

/** Alerts that fire while the service is down and that Alertmanager inhibits. */
const INHIBITED = ['XvsApiDataStale', 'XvsApiErrorRatio', 'XvsApiBudgetBurnFast'];

/** Expects the two streams that the simulator adds to its tasks. */
const CONFIGURATION = `
tasks:
  name: opaque.room
service_codes:
  - service_code: ${CODE}
    expect: { names: [main, backup] }
`;

/** The shipped routes, with shorter times and the test's receivers. */
function createRoutes(url: string): unknown {
  const yaml = readDeployFile('alertmanager/alertmanager.yml');
  const redirected = yaml.replaceAll(/^( +- url: )http:\/\/localhost:9095/gm, `$1${url}`);
  assert.equal(redirected.split(`- url: ${url}/`).length, 4);
  return scaleDurations(redirected, TIME_DIVISOR);
}

/** The shipped rules, except that one stalled task of a server fires XvsIngestStalled. */
function readRules(name: string): string {
  return readDeployFile(name).replace('xvs_tasks_stalled:max >= 3', 'xvs_tasks_stalled:max >= 1');
}

/** A live task that runs longer than the test. The seed makes the simulated world the same at every start. */
function findLongLivedTask(): { readonly id: string; readonly vsId: string } {
  const world = createWorld({ ...WORLD_OPTIONS, startedAtMs: 0 });
  const liveAt = (ms: number) => [...world.tasks(CODE, ms)].filter(({ progress }) => progress === 0);
  const later = new Set(liveAt(600_000).map(({ id }) => id));
  const task = liveAt(0).find(({ id }) => later.has(id));
  assert.ok(task !== undefined);
  return { id: task.id, vsId: task.vs_id };
}

test(
  'alerts pass from the exporter through Prometheus and Alertmanager to the receiver',
  { timeout: 600_000 },
  async (t) => {
    if (!isInstalled(t, 'prometheus') || !isInstalled(t, ALERTMANAGER)) return;
    await using service = startSimulatorProgram(
      `--service-code=${CODE}:abc`,
      ...Object.entries(WORLD_OPTIONS).map(([name, value]) => `--${name}=${value}`),
      '--stream=main',
      '--stream=backup',
    );
    using folder = new TemporaryFolder();
    folder.replace('config.yml', CONFIGURATION);
    const serviceUrl = await service.waitForUrl();
    await using exporter = startProgram(
      [
        `--config.file=${folder.at('config.yml')}`,
        '--poll.interval=1s',
        '--poll.stall-after=2s',
        '--web.listen-address=127.0.0.1:0',
      ],
      { XVS_UPSTREAM_BASE_URL: serviceUrl, XVS_SECRET: 'abc' },
    );
    const port = await exporter.waitForPort();
    await using receiver = await WebhookReceiver.start();
    await using alertmanager = await Alertmanager.start(createRoutes(receiver.url));
    await using prometheus = await Prometheus.start({
      targets: [`127.0.0.1:${port}`],
      rules: listDeployYaml('prometheus/rules').map((name) => scaleDurations(readRules(name), TIME_DIVISOR)),
      alertmanager: alertmanager.address,
    });
    const arrived = (alertname: string, status: 'firing' | 'resolved' = 'firing') =>
      waitUntil(
        () => receiver.find(alertname, status),
        (notice) => notice !== undefined,
      );

    await t.test('no alert fires at first', async () => {
      await prometheus.waitUntil(
        () => prometheus.value(`service_code:xvs_tasks:sum{service_code="${CODE}"}`),
        (tasks) => (tasks ?? 0) > 0,
      );
      assert.equal(receiver.find('XvsIngestStalled'), undefined);
      assert.equal(receiver.find('XvsApiDown'), undefined);
    });

    await t.test('Prometheus answers every query of the runbook', async () => {
      for (const query of readRunbookQueries()) {
        await assert.doesNotReject(() => prometheus.query(query.replaceAll('"CODE"', `"${CODE}"`)), query);
      }
    });

    await t.test('frozen ingest of a task fires XvsIngestStalled for its server', async () => {
      const { id, vsId } = findLongLivedTask();
      await setFault(serviceUrl, { fault: 'freeze_ingest', taskId: id });
      const notice = await arrived('XvsIngestStalled');
      assert.deepEqual(notice, {
        receiver: 'warning',
        status: 'firing',
        labels: {
          alertname: 'XvsIngestStalled',
          layer: 'data',
          service_code: CODE,
          severity: 'warning',
          vs_id: vsId,
        },
      });
      assert.equal(receiver.find('XvsIngestStalled', 'resolved'), undefined);
    });

    await t.test('the alert resolves when ingest continues', async () => {
      await clearFaults(serviceUrl);
      const notice = await arrived('XvsIngestStalled', 'resolved');
      assert.equal(notice?.labels['vs_id'], findLongLivedTask().vsId);
    });

    await t.test('an expected stream that stops has its name in metric, page and alert', async () => {
      const getDown = () =>
        prometheus
          .query(`xvs_expected_task_up{service_code="${CODE}"} == 0`)
          .then((series) => series.map(({ metric }) => metric['task_name']));
      await prometheus.waitUntil(
        () => prometheus.value(`sum(xvs_expected_task_up{service_code="${CODE}"})`),
        (up) => up === 2,
      );
      assert.equal(receiver.find('XvsExpectedTaskDown'), undefined);
      await setFault(serviceUrl, { fault: 'freeze_ingest', name: 'main' });
      const notice = await arrived('XvsExpectedTaskDown');
      assert.deepEqual(notice, {
        receiver: 'critical',
        status: 'firing',
        labels: {
          alertname: 'XvsExpectedTaskDown',
          layer: 'data',
          service_code: CODE,
          severity: 'critical',
          task_name: 'main',
        },
      });
      assert.deepEqual(await getDown(), ['main']);
      const page = await (await fetch(`http://127.0.0.1:${port}/`)).text();
      assert.match(page, /Expected: main has been stalled since [^.]*\./);
      await clearFaults(serviceUrl);
      await arrived('XvsExpectedTaskDown', 'resolved');
    });

    await t.test('XvsApiDown arrives when the service refuses connections', async () => {
      await setFault(serviceUrl, { fault: 'refuse' });
      const notice = await arrived('XvsApiDown');
      assert.equal(notice?.receiver, 'critical');
      assert.equal(notice?.labels['service_code'], CODE);
    });

    await t.test('while the service fails, gauges are stale and counters stay', async () => {
      await prometheus.waitUntil(
        () => prometheus.query('{__name__=~"xvs_tasks|xvs_online_users|xvs_servers"}'),
        (series) => series.length === 0,
      );
      assert.ok(((await prometheus.value('sum(xvs_input_bytes_total)')) ?? 0) > 0);
    });

    await t.test('inhibited alerts fire but do not arrive', async () => {
      await waitUntil(
        () => alertmanager.alerts(),
        (alerts) =>
          INHIBITED.every((name) =>
            alerts.some(
              ({ labels, status }) => labels['alertname'] === name && status.state === 'suppressed',
            ),
          ),
      );
      // Another alert of each group has arrived, so an alert without inhibition would have arrived too.
      const markers = ['critical', 'warning'].map((severity) => ({
        alertname: `Marker-${severity}`,
        severity,
        service_code: CODE,
      }));
      await alertmanager.postAlerts(markers);
      for (const { alertname } of markers) await arrived(alertname);
      assert.deepEqual(
        INHIBITED.filter((name) => receiver.find(name) !== undefined),
        [],
      );
    });

    await t.test('the alert resolves when the service recovers', async () => {
      await clearFaults(serviceUrl);
      await arrived('XvsApiDown', 'resolved');
    });
  },
);
