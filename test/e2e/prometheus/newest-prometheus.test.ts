import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRules, readRunbookQueries } from '../../support/deploy-files.ts';
import {
  ALL_SELECTED,
  interpolate,
  listExpressions,
  readCommittedDashboards,
} from '../../support/grafana.ts';
import { isInstalled, NEWEST_PROMETHEUS } from '../../support/installed-programs.ts';
import { SETTINGS, startProgram } from '../../support/program.ts';
import { Prometheus } from '../../support/prometheus.ts';
import { startSimulatorProgram } from '../../support/simulator-program.ts';

const TEXT = 'PrometheusText0.0.4';

/** Ways of scraping, as settings of a job. */
const WAYS: Readonly<Record<string, object>> = {
  'text 0.0.4': { scrape_protocols: [TEXT] },
  'text 1.0.0': { scrape_protocols: ['PrometheusText1.0.0', TEXT] },
  'OpenMetrics 1.0': { scrape_protocols: ['OpenMetricsText1.0.0'] },
  'OpenMetrics 2.0 preferred': { scrape_protocols: ['OpenMetricsText2.0.0', 'OpenMetricsText1.0.0'] },
  'default protocols': {},
};
const NATIVE = 'native histograms';

test('the newest Prometheus gets the same series by all protocols', async (t) => {
  if (!isInstalled(t, NEWEST_PROMETHEUS)) return;
  await using service = startSimulatorProgram('--service-code=TESTING:abc', '--users=20', '--tasks=12');
  await using exporter = startProgram(['--poll.interval=1s'], {
    ...SETTINGS,
    XVS_UPSTREAM_BASE_URL: await service.waitForUrl(),
  });
  const address = `127.0.0.1:${await exporter.waitForPort()}`;
  await exporter.waitForOutput(/Poll succeeded/);
  const target = { static_configs: [{ targets: [address] }] };
  const jobs = [
    ...Object.entries(WAYS).map(([name, settings]) => ({ job_name: name, ...target, ...settings })),
    {
      job_name: NATIVE,
      ...target,
      scrape_native_histograms: true,
      convert_classic_histograms_to_nhcb: true,
    },
    { job_name: '/sd', http_sd_configs: [{ url: `http://${address}/sd`, refresh_interval: '1s' }] },
  ];
  await using prometheus = await Prometheus.start({ jobs, command: NEWEST_PROMETHEUS });

  await t.test('every target is up', async () => {
    // A scrape fails after a second, which a loaded machine may take.
    await prometheus.waitUntil(
      () => prometheus.value('count(count by (job) (xvs_listing_users) unless on (job) up == 0)'),
      (found) => found === jobs.length,
    );
  });

  await t.test('the number of series of each family does not depend on the protocol', async () => {
    const count = async (job: string): Promise<ReadonlyMap<string, number>> => {
      const families = '{job="JOB", __name__=~"xvs_.+", __name__!~"xvs_exporter_web_.+"}';
      const series = await prometheus.query(`count by (__name__) (${families.replace('JOB', job)})`);
      return new Map(series.map(({ metric, value }) => [metric['__name__'] ?? '', value]));
    };
    const isHistogramPart = (name: string): boolean => /_(?:bucket|sum|count)$/.test(name);
    /** Lists the families whose number of series differs, and the job. */
    const listDifferences = async (): Promise<readonly string[]> => {
      const expected = await count('text 0.0.4');
      assert.ok(expected.has('xvs_listing_users') && expected.has('xvs_exporter_polls_total'));
      const counts = await Promise.all(
        [...Object.keys(WAYS), NATIVE].map(async (job) => ({ job, found: await count(job) })),
      );
      return counts.flatMap(({ job, found }) => {
        const names = new Set([...expected.keys(), ...found.keys()]);
        const compared =
          job === NATIVE ? [...expected.keys()].filter((name) => !isHistogramPart(name)) : [...names];
        return compared
          .filter((name) => found.get(name) !== expected.get(name))
          .map((name) => `${job}: ${name}`);
      });
    };
    // Tasks start and end between scrapes: repeat until they agree.
    await prometheus.waitUntil(listDifferences, (differences) => differences.length === 0);
    const native = await count(NATIVE);
    assert.ok(native.has('xvs_task_lifetime_seconds'));
    assert.ok(!native.has('xvs_task_lifetime_seconds_bucket'));
  });

  await t.test('no expression of rules, dashboards and runbook has a warning or an info', async () => {
    const variables = { ...ALL_SELECTED, __range: '1h', __rate_interval: '5s' };
    const expressions = [
      ...readRules().map(({ expr }) => expr),
      ...readRunbookQueries(),
      ...[...readCommittedDashboards().values()].flatMap((dashboard) =>
        listExpressions(dashboard).map(({ expr }) => interpolate(expr, variables)),
      ),
    ];
    assert.ok(expressions.length > 200, `${expressions.length}`);
    await prometheus.waitUntil(
      () => prometheus.listAnnotations('rate(xvs_listing_users[5s])'),
      (annotations) => annotations.length === 1,
    );
    for (const expression of expressions)
      assert.deepEqual(await prometheus.listAnnotations(expression), [], expression);
  });
});
