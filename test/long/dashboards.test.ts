import assert from 'node:assert/strict';
import { ALERT_SERIES } from '../../deploy/grafana/source/queries.ts';
import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import { test } from 'node:test';
import { startProgram, type Program } from '../support/program.ts';
import { isInstalled } from '../support/installed-programs.ts';
import { Prometheus } from '../support/prometheus.ts';
import {
  ALL_SELECTED,
  readCommittedDashboards,
  listExpressions,
  interpolate,
  type Expression,
} from '../support/grafana.ts';
import { TemporaryFolder } from '../support/temporary-folder.ts';
import { listMetricNames } from '../support/promql.ts';
import { clearFaults, setFault, startSimulatorProgram } from '../support/simulator-program.ts';

/** For a scrape interval of one second. */
const VARIABLES = { ...ALL_SELECTED, __range: '1h', __rate_interval: '5s' };

/** The exporters and the service of this test serve plain HTTP. */
const ONLY_WITH_TLS = [
  CATALOGUE.tlsCertificateNotAfter.name,
  CATALOGUE.clientCertificateNotAfter.name,
  CATALOGUE.upstreamCertificateNotAfter.name,
];
/**
 * The simulator lists no records of other service codes, exceeds no limit, and its byte counts do not wait;
 * their families appear with the first one. The service codes are in no file, Prometheus has no rules of
 * alerts, and the exporters have no limit of memory of their own.
 */
const WITHOUT_DATA = [
  ...ONLY_WITH_TLS,
  CATALOGUE.foreignRecords.name,
  CATALOGUE.listingSurplus.name,
  CATALOGUE.byteCountsWaiting.name,
  CATALOGUE.expectedTaskByteCountsWaiting.name,
  CATALOGUE.codeFileValid.name,
  CATALOGUE.memoryLimit.name,
  ALERT_SERIES,
];

/** Enough tasks that some end during the test. */
const SIZE = ['--users=200', '--tasks=200', '--stream=main'];

const CONFIGURATION = `
secret: abc
tasks: { name: opaque.room }
service_codes:
  - service_code: TESTING
    expect: { names: [{ name: main, min_input_rate: 3Mbit/s, outputs: 3 }] }
  - STADIUM
`;

const simulator = (): Program =>
  startSimulatorProgram('--service-code=TESTING:abc', '--service-code=STADIUM:abc', ...SIZE);

const exporter = (serviceUrl: string, configFile: string, statePath: string): Program =>
  startProgram(
    [
      `--config.file=${configFile}`,
      '--web.listen-address=127.0.0.1:0',
      '--poll.interval=1s',
      '--poll.stall-after=2s',
      '--metrics.per-task=true',
      '--metrics.max-label-sets=20',
      '--metrics.max-tasks=150',
    ],
    {
      XVS_UPSTREAM_BASE_URL: serviceUrl,
      XVS_STATE_PATH: statePath,
    },
  );

const INVALID_RECORDS = { fault: 'bad_record', serviceCode: 'STADIUM', every: 50 };

const now = (): number => Date.now() / 1000;

/** Injects the problems that panels show: invalid records and fields, stalled ingest, then failed polls. */
async function injectFaults(serviceUrl: string, prometheus: Prometheus): Promise<void> {
  const until = async (condition: string): Promise<void> => {
    await prometheus.waitUntil(
      () => prometheus.query(condition),
      (series) => series.length > 0,
    );
  };
  // Records were invalid since the first listing: their tasks start when the fault is removed, and end when
  // it returns.
  await until('xvs_exporter_invalid_records_total > 0');
  await clearFaults(serviceUrl);
  await until('sum(rate(xvs_input_bytes_total[5s])) > 0 and sum(rate(xvs_tasks_started_total[5s])) > 0');
  await setFault(serviceUrl, { fault: 'freeze_ingest', serviceCode: 'STADIUM' });
  await setFault(serviceUrl, INVALID_RECORDS);
  await until('rate(xvs_exporter_invalid_records_total[5s]) > 0');
  await until('rate(xvs_task_lifetime_seconds_count[5s]) > 0');
  await setFault(serviceUrl, { fault: 'bad_field', serviceCode: 'STADIUM', every: 50 });
  await until('rate(xvs_exporter_invalid_fields_total[5s]) > 0');
  await until('xvs_tasks_stalled > 0');
  await setFault(serviceUrl, {
    fault: 'http_status',
    status: 503,
    retryAfter: '2',
    serviceCode: 'STADIUM',
  });
  await until('rate(xvs_exporter_polls_skipped_total{reason="retry_after"}[5s]) > 0');
  await until('xvs_up == 0');
  await clearFaults(serviceUrl);
  await until('min(xvs_up) == 1');
}

/** Repeats queries without data until the deadline, and returns those that still have none. */
async function findExpressionsWithoutData(
  prometheus: Prometheus,
  expressions: readonly Expression[],
  start: number,
): Promise<readonly string[]> {
  let pending = expressions;
  const ask = async (): Promise<readonly string[]> => {
    const span = { start, end: now() };
    const found = await Promise.all(
      pending.map(({ expr }) => prometheus.queryRange(interpolate(expr, VARIABLES), span)),
    );
    pending = pending.filter((_, index) => found[index]?.length === 0);
    return pending.map(({ location, expr }) => `${location}: ${expr}`);
  };
  try {
    return await prometheus.waitUntil(ask, (places) => places.length === 0);
  } catch {
    return await ask();
  }
}

/** Returns the sum of all series of an expression at `time`, for the instances that match. */
async function sumSeries(
  prometheus: Prometheus,
  { expr }: Expression,
  time: number,
  instance: string,
): Promise<number> {
  const values = { ...VARIABLES, instance, __rate_interval: '60s' };
  const series = await prometheus.query(interpolate(expr, values), time);
  return series.filter(({ value }) => !Number.isNaN(value)).reduce((sum, { value }) => sum + value, 0);
}

test('every query of the dashboards has a result', async (t) => {
  if (!isInstalled(t, 'prometheus')) return;
  const start = now();
  await using service = simulator();
  const serviceUrl = await service.waitForUrl();
  await setFault(serviceUrl, INVALID_RECORDS);
  using folder = new TemporaryFolder();
  folder.replace('config.yml', CONFIGURATION);
  await using one = exporter(serviceUrl, folder.at('config.yml'), folder.at('one'));
  await using other = exporter(serviceUrl, folder.at('config.yml'), folder.at('other'));
  const instances = [`127.0.0.1:${await one.waitForPort()}`, `127.0.0.1:${await other.waitForPort()}`];
  await using prometheus = await Prometheus.start({ targets: instances });
  await injectFaults(serviceUrl, prometheus);
  const dashboards = [...readCommittedDashboards().values()];

  await t.test('every target and annotation has data', async () => {
    assert.deepEqual(
      await findExpressionsWithoutData(
        prometheus,
        dashboards
          .flatMap(listExpressions)
          .filter(({ expr }) => !WITHOUT_DATA.some((name) => expr.includes(name)))
          // No plot has more than its twenty series.
          .filter(({ expr }) => !/ unless on \(\w/.test(expr)),
        start,
      ),
      [],
    );
  });

  await t.test('two exporters of the same codes do not double values', async () => {
    const ofService = dashboards
      .flatMap(listExpressions)
      .filter(({ expr }) => ![...listMetricNames(interpolate(expr, VARIABLES))].some(isAboutExporter));
    assert.ok(ofService.length > 40, `${ofService.length} queries are about the service`);
    // At this time, Prometheus has stored all scrapes.
    const time = now() - 10;
    for (const expression of ofService) {
      const [first = 0, second = 0, both = 0] = await Promise.all(
        [...instances, '.+'].map((instance) => sumSeries(prometheus, expression, time, instance)),
      );
      // The exporters poll at different times, so their tasks may differ. Doubled values would be twice as
      // large.
      const more = Math.max(first, second);
      assert.ok(both <= 1.5 * more, `${expression.location}: ${more} of one, ${both} of both`);
    }
  });
});

/** Families whose values differ between exporters of the same codes. */
function isAboutExporter(metric: string): boolean {
  return !metric.startsWith('xvs_') || metric.startsWith('xvs_exporter_');
}
