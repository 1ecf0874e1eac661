import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { isInstalled } from '../../support/installed-programs.ts';
import { startProgram } from '../../support/program.ts';
import { Prometheus } from '../../support/prometheus.ts';
import { clearFaults, setFault, startSimulatorProgram } from '../../support/simulator-program.ts';

const totalsSchema = z.object({
  users: z.array(z.object({ client_version: z.string(), count: z.number() })),
  input_bytes_pushed: z.number(),
});

type Totals = z.infer<typeof totalsSchema>;

/** Formats users by version as one text, to compare two such counts. */
function formatUsersByVersion(counts: readonly (readonly [version: string, count: number])[]): string {
  const users = new Map<string, number>();
  for (const [version, count] of counts) users.set(version, (users.get(version) ?? 0) + count);
  return [...users]
    .map(([version, count]) => `${version}: ${count}`)
    .toSorted((a, b) => a.localeCompare(b))
    .join(', ');
}

/** With this seed, no task ends within the first minutes, so listings contain all bytes. */
const WORLD = ['--service-code=TESTING:abc', '--seed=122', '--users=20', '--tasks=12'];

test(
  'a real Prometheus shows the bytes that the service pushes, and its failures',
  { timeout: 600_000 },
  async (t) => {
    if (!isInstalled(t, 'prometheus')) return;
    await using service = startSimulatorProgram(...WORLD);
    const serviceUrl = await service.waitForUrl();
    await setFault(serviceUrl, { fault: 'freeze_ingest' });
    await using exporter = startProgram(['--poll.interval=1s', '--web.listen-address=127.0.0.1:0'], {
      XVS_UPSTREAM_BASE_URL: serviceUrl,
      XVS_SERVICE_CODES: 'TESTING',
      XVS_SECRET: 'abc',
    });
    const port = await exporter.waitForPort();
    await using prometheus = await Prometheus.startScraping(`127.0.0.1:${port}`);
    const fetchTotals = async (): Promise<Totals> => {
      const response = await fetch(`${serviceUrl}/-/totals?service_code=TESTING`);
      return totalsSchema.parse(await response.json());
    };

    await t.test('the target is up', async () => {
      await prometheus.waitUntil(
        () => prometheus.value('up{job="xvs-exporter"}'),
        (up) => up === 1,
      );
      await prometheus.waitUntil(
        () => prometheus.value('xvs_up{service_code="TESTING"}'),
        (up) => up === 1,
      );
    });

    await t.test('users by version match the service', async () => {
      // Users come and go between the poll and the query: repeat until nothing changes meanwhile.
      const fetchUsers = async (): Promise<string> => {
        const { users } = await fetchTotals();
        return formatUsersByVersion(users.map(({ client_version: version, count }) => [version, count]));
      };
      const ask = async (): Promise<readonly [string, string, string]> => {
        const before = await fetchUsers();
        const series = await prometheus.query('sum by (client_version) (xvs_online_users)');
        const found = formatUsersByVersion(
          series.map(({ metric, value }) => [metric['client_version'] ?? '', value]),
        );
        return [before, found, await fetchUsers()];
      };
      await prometheus.waitUntil(ask, ([before, found, after]) => before === after && before === found);
    });

    await t.test('the increase of input bytes matches the bytes pushed', async () => {
      // No bytes flow at either end of the window, so late polls and scrapes do not change the result.
      await prometheus.waitUntil(
        () => prometheus.value('min(count_over_time(xvs_input_bytes_total[1h]))'),
        (samples) => (samples ?? 0) >= 5,
      );
      const before = await fetchTotals();
      assert.equal(await prometheus.value('sum(xvs_input_bytes_total)'), 0);
      await clearFaults(serviceUrl);
      await prometheus.waitUntil(
        () => prometheus.value('min(count_over_time(xvs_input_bytes_total[1h]))'),
        (samples) => (samples ?? 0) >= 25,
      );
      await setFault(serviceUrl, { fault: 'freeze_ingest' });
      const after = await fetchTotals();
      const pushed = after.input_bytes_pushed - before.input_bytes_pushed;
      await prometheus.waitUntil(
        () => prometheus.value('sum(xvs_input_bytes_total)'),
        (sum) => sum === pushed,
      );
      // Extrapolation to the ends of the window adds at most one of at least 25 intervals.
      const increase = await prometheus.value('sum(increase(xvs_input_bytes_total[1h]))');
      assert.ok(
        increase !== undefined && Math.abs(increase / pushed - 1) < 0.05,
        `Expected an increase of ${pushed} B, found ${increase} B`,
      );
      await clearFaults(serviceUrl);
    });

    await t.test('when the service fails, xvs_up is 0, gauges go stale, and counters stay', async () => {
      await setFault(serviceUrl, { fault: 'http_status', status: 503 });
      await prometheus.waitUntil(
        () => prometheus.value('xvs_up'),
        (up) => up === 0,
      );
      await prometheus.waitUntil(
        () => prometheus.query('{__name__=~"xvs_tasks|xvs_online_users|xvs_servers"}'),
        (series) => series.length === 0,
      );
      assert.ok(((await prometheus.value('sum(xvs_input_bytes_total)')) ?? 0) > 0);
      const reasons = await prometheus.query('xvs_exporter_poll_errors_total > 0');
      assert.deepEqual(
        reasons.map(({ metric }) => metric['reason']),
        ['http_status'],
      );
    });

    await t.test('when the service recovers, all values return', async () => {
      await clearFaults(serviceUrl);
      await prometheus.waitUntil(
        () => prometheus.value('xvs_up'),
        (up) => up === 1,
      );
      await prometheus.waitUntil(
        () => prometheus.value('sum(xvs_tasks)'),
        (tasks) => (tasks ?? 0) > 0,
      );
    });
  },
);
