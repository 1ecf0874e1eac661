import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALERTMANAGER, Alertmanager } from '../../support/alertmanager.ts';
import { readDeployFile, listDeployYaml } from '../../support/deploy-files.ts';
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

/** Alerts that fire while the service is down and that Alertmanager inhibits. */
const INHIBITED = ['XvsApiErrorRatio'];

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
  assert.equal(redirected.split(`- url: ${url}/`).length, 3);
  return scaleDurations(redirected, TIME_DIVISOR);
}

test(
  'alerts pass from the exporter through Prometheus and Alertmanager to the receiver',
  { timeout: 600_000 },
  async (t) => {
    if (!isInstalled(t, 'prometheus') || !isInstalled(t, ALERTMANAGER)) return;
    await using service = startSimulatorProgram(
      `--service-code=${CODE}:abc`,
      '--users=20',
      '--tasks=30',
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
      rules: listDeployYaml('prometheus/rules').map((name) =>
        scaleDurations(readDeployFile(name), TIME_DIVISOR),
      ),
      alertmanager: alertmanager.address,
    });
    const arrived = (alertname: string, status: 'firing' | 'resolved' = 'firing') =>
      waitUntil(
        () => receiver.find(alertname, status),
        (notice) => notice !== undefined,
      );

    await t.test('an expected stream that stops has its name in metric, page and alert', async () => {
      await prometheus.waitUntil(
        () => prometheus.value(`sum(xvs_expected_task_up{service_code="${CODE}"})`),
        (up) => up === 2,
      );
      assert.equal(receiver.find('XvsExpectedTaskDown'), undefined);
      await setFault(serviceUrl, { fault: 'freeze_ingest', name: 'main' });
      const notice = await arrived('XvsExpectedTaskDown');
      assert.equal(notice?.receiver, 'xvs-critical');
      assert.deepEqual(notice.labels, {
        alertname: 'XvsExpectedTaskDown',
        layer: 'data',
        service_code: CODE,
        severity: 'critical',
        task_name: 'main',
      });
      assert.equal(await prometheus.value('xvs_expected_task_up{task_name="main"}'), 0);
      assert.equal(await prometheus.value('xvs_expected_task_up{task_name="backup"}'), 1);
      const page = await (await fetch(`http://127.0.0.1:${port}/`)).text();
      assert.match(page, /Expected: main has been stalled since [^.]*\./);
      await clearFaults(serviceUrl);
      await arrived('XvsExpectedTaskDown', 'resolved');
    });

    await t.test('XvsApiDown arrives when the service refuses connections', async () => {
      await setFault(serviceUrl, { fault: 'refuse' });
      const notice = await arrived('XvsApiDown');
      assert.equal(notice?.receiver, 'xvs-critical');
      assert.equal(notice?.labels['service_code'], CODE);
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
        alertname: `XvsMarker-${severity}`,
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
