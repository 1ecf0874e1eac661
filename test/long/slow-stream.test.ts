import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { ALERTMANAGER, Alertmanager } from '../support/alertmanager.ts';
import { listDeployYaml, readDeployFile } from '../support/deploy-files.ts';
import { isInstalled } from '../support/installed-programs.ts';
import { startProgram } from '../support/program.ts';
import { Prometheus } from '../support/prometheus.ts';
import { setFault, startSimulatorProgram } from '../support/simulator-program.ts';
import { TemporaryFolder } from '../support/temporary-folder.ts';
import { waitUntil } from '../support/wait-until.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';

const MINUTE_MS = 60_000;

/** The stream runs at 4 Mbit/s. */
const CONFIGURATION = `
secret: abc
tasks: { name: opaque.room }
service_codes:
  - service_code: TESTING
    expect: { names: [{ name: main, min_input_rate: 3Mbit/s }] }
`;

test(
  'a stream that falls to a third of its rate fires within 4 minutes and notifies within 5.5, with the shipped times',
  { timeout: 15 * MINUTE_MS },
  async (t) => {
    if (!isInstalled(t, 'prometheus') || !isInstalled(t, ALERTMANAGER)) return;
    await using service = startSimulatorProgram('--users=20', '--tasks=10', '--stream=main');
    const serviceUrl = await service.waitForUrl();
    using folder = new TemporaryFolder();
    folder.replace('config.yml', CONFIGURATION);
    await using exporter = startProgram(
      [`--config.file=${folder.at('config.yml')}`, '--web.listen-address=127.0.0.1:0'],
      { XVS_UPSTREAM_BASE_URL: serviceUrl },
    );
    await using receiver = await WebhookReceiver.start();
    const routes = readDeployFile('alertmanager/alertmanager.yml');
    await using alertmanager = await Alertmanager.start(
      parse(routes.replaceAll('http://localhost:9095', receiver.url)),
    );
    await using prometheus = await Prometheus.start({
      interval: '15s',
      targets: [`127.0.0.1:${await exporter.waitForPort()}`],
      rules: listDeployYaml('prometheus/rules').map((name): unknown => parse(readDeployFile(name))),
      alertmanager: alertmanager.address,
    });

    await t.test('it is silent while the first minutes fill the range of its rate', async () => {
      await prometheus.waitUntil(
        () => prometheus.value('service_code_task_name:xvs_expected_task_input_bits:rate2m'),
        (rate) => (rate ?? 0) > 3e6,
        4 * MINUTE_MS,
      );
      assert.equal(
        await prometheus.value('ALERTS{alertname="XvsExpectedTaskSlow", alertstate="firing"}'),
        undefined,
      );
    });

    await t.test('the notification says rate, minimum and since when', async () => {
      await setFault(serviceUrl, { fault: 'slow_ingest', name: 'main' });
      const [notice] = await Promise.all([
        waitUntil(
          () => receiver.find('XvsExpectedTaskSlow'),
          (found) => found !== undefined,
          5.5 * MINUTE_MS,
        ),
        prometheus.waitUntil(
          () => prometheus.query('ALERTS{alertname="XvsExpectedTaskSlow", alertstate="firing"}'),
          (alerts) => alerts.length === 1,
          4 * MINUTE_MS,
        ),
      ]);
      assert.equal(notice?.receiver, 'xvs-critical');
      assert.match(
        notice.annotations['description'] ?? '',
        /^main of TESTING receives 1\.\d+Mbit\/s, less than 3Mbit\/s, since \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/,
      );
    });
  },
);
