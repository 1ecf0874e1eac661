import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { readDeployFile } from '../../support/deploy-files.ts';
import { isInstalled } from '../../support/installed-programs.ts';
import { SETTINGS, startProgram } from '../../support/program.ts';
import { Prometheus, type QueriedSeries } from '../../support/prometheus.ts';
import { startSimulatorProgram } from '../../support/simulator-program.ts';

const CODES = ['A', 'B', 'a b&c="é"'];

/** Series that Prometheus adds for each scrape. */
const SCRAPE_METRICS = /^(?:up|scrape_.*)$/;

/** The shipped job of prometheus-sd.yml. */
const [job] = z
  .object({ scrape_configs: z.tuple([z.looseObject({})]) })
  .parse(parse(readDeployFile('prometheus/prometheus-sd.yml'))).scrape_configs;

const listCodes = (series: readonly QueriedSeries[]): readonly string[] =>
  series.map(({ metric }) => metric['service_code'] ?? '').toSorted((a, b) => (a < b ? -1 : 1));

test('a real Prometheus discovers service codes by /sd and scrapes each separately', async (t) => {
  if (!isInstalled(t, 'prometheus')) return;
  await using service = startSimulatorProgram(
    ...CODES.map((code) => `--service-code=${code}:abc`),
    '--users=20',
    '--tasks=30',
  );
  await using exporter = startProgram(['--poll.interval=1s'], {
    ...SETTINGS,
    XVS_UPSTREAM_BASE_URL: await service.waitForUrl(),
    XVS_SERVICE_CODES: CODES.join(','),
  });
  const address = `127.0.0.1:${await exporter.waitForPort()}`;
  await using prometheus = await Prometheus.start({
    jobs: [{ ...job, http_sd_configs: [{ url: `http://${address}/sd`, refresh_interval: '1s' }] }],
  });
  const upOfCodes = () => prometheus.query('up{service_code!=""} == 1');

  await t.test('each code and the process are targets that are up', async () => {
    const found = await prometheus.waitUntil(upOfCodes, (series) => series.length === 3);
    assert.deepEqual(listCodes(found), CODES);
    // The first scrapes of the targets are not simultaneous.
    const ofProcess = await prometheus.waitUntil(
      () => prometheus.query('up{service_code=""} == 1'),
      (series) => series.length > 0,
    );
    assert.deepEqual(
      ofProcess.map(({ metric, value }) => [metric, value]),
      [[{ __name__: 'up', job: 'xvs-exporter', instance: address }, 1]],
    );
  });

  await t.test('series have the same labels as without discovery', async () => {
    const series = await prometheus.waitUntil(
      () => prometheus.query('xvs_up'),
      (found) => found.length === 3,
    );
    for (const { metric } of series) {
      const { service_code: code, ...rest } = metric;
      assert.ok(code !== undefined);
      assert.deepEqual(rest, { __name__: 'xvs_up', job: 'xvs-exporter', instance: address });
    }
    assert.deepEqual(await prometheus.query('{__name__=~".+", exported_service_code!=""}'), []);
    assert.deepEqual(await prometheus.query('{__name__=~".+", exported_job!=""}'), []);
  });

  await t.test('no two targets expose the same series: there are as many series as samples', async () => {
    const counts = async (): Promise<readonly [number, number]> => {
      const all = await prometheus.query('{__name__=~".+", job="xvs-exporter"}');
      const scraped = all.filter(({ metric }) => metric['__name__'] === 'scrape_samples_scraped');
      const samples = scraped.reduce((sum, { value }) => sum + value, 0);
      const own = all.filter(({ metric }) => !SCRAPE_METRICS.test(metric['__name__'] ?? ''));
      return [own.filter(({ metric }) => !/:/.test(metric['__name__'] ?? '')).length, samples];
    };
    // Tasks start and end between scrapes: repeat until both agree.
    await prometheus.waitUntil(counts, ([series, samples]) => series > 300 && series === samples);
    assert.equal(await prometheus.value('count(process_start_time_seconds)'), 1);
    assert.equal(await prometheus.value('count(xvs_exporter_build_info)'), 1);
  });
});
