import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { isInstalled } from '../support/installed.ts';
import { xvsExporter } from '../support/program.ts';
import { Prometheus } from '../support/prometheus.ts';

const accountSchema = z.object({
  at_ms: z.number(),
  users: z.array(z.object({ client_version: z.string(), count: z.number() })),
  input_bytes_pushed: z.number(),
});

type Account = z.infer<typeof accountSchema>;

/** Users by version as one text, so that two such can be compared. */
function usersByVersion(counts: readonly (readonly [version: string, count: number])[]): string {
  const users = new Map<string, number>();
  for (const [version, count] of counts) users.set(version, (users.get(version) ?? 0) + count);
  return [...users]
    .map(([version, count]) => `${version}: ${count}`)
    .toSorted((a, b) => a.localeCompare(b))
    .join(', ');
}

test('a real Prometheus sees what the service pushes, and sees it fail', { timeout: 240_000 }, async (t) => {
  if (!isInstalled(t, 'prometheus')) return;
  await using service = xvsExporter([
    'simulate',
    '--listen-address=127.0.0.1:0',
    '--service-code=TESTING:abc',
    '--users=20',
    '--tasks=30',
    '--control',
  ]);
  const serviceUrl = await service.printed(/ on (http:\S+)/);
  await using exporter = xvsExporter(['--poll.interval=1s', '--web.listen-address=127.0.0.1:0'], {
    XVS_UPSTREAM_BASE_URL: serviceUrl,
    XVS_SERVICE_CODES: 'TESTING',
    XVS_SECRET: 'abc',
  });
  const port = await exporter.printed(/"port":(\d+),"msg":"Listening"/);
  await using prometheus = await Prometheus.scraping(`127.0.0.1:${port}`);
  const account = async (): Promise<Account> => {
    const response = await fetch(`${serviceUrl}/-/account?service_code=TESTING`);
    return accountSchema.parse(await response.json());
  };

  await t.test('the target is up', async () => {
    await prometheus.until(
      () => prometheus.value('up{job="xvs-exporter"}'),
      (up) => up === 1,
    );
    await prometheus.until(
      () => prometheus.value('xvs_up{service_code="TESTING"}'),
      (up) => up === 1,
    );
  });

  await t.test('users by version are those of the service', async () => {
    // Users come and go between the poll and the question: until a moment without change.
    const real = async (): Promise<string> => {
      const { users } = await account();
      return usersByVersion(users.map(({ client_version: version, count }) => [version, count]));
    };
    const ask = async (): Promise<readonly [string, string, string]> => {
      const before = await real();
      await delay(2500);
      const series = await prometheus.query('sum by (client_version) (xvs_online_users)');
      const seen = usersByVersion(series.map(({ metric, value }) => [metric['client_version'] ?? '', value]));
      return [before, seen, await real()];
    };
    await prometheus.until(ask, ([before, seen, after]) => before === after && before === seen);
  });

  await t.test('the rate of input bytes is what the service pushed, within 5 %', async () => {
    // A whole window of the rate has to lie behind, of which the account knows both ends.
    const before = await account();
    await delay(62_000);
    const after = await account();
    const rate = await prometheus.value('sum(rate(xvs_input_bytes_total[1m]))');
    const pushed =
      (after.input_bytes_pushed - before.input_bytes_pushed) / ((after.at_ms - before.at_ms) / 1000);
    assert.ok(
      rate !== undefined && Math.abs(rate / pushed - 1) < 0.05,
      `pushed ${pushed} B/s, Prometheus saw ${rate} B/s`,
    );
  });

  await t.test('counters have their time of birth, by OpenMetrics', async () => {
    const created = await prometheus.value('min(xvs_input_bytes_created)');
    assert.ok(created !== undefined && Math.abs(Date.now() / 1000 - created) < 600);
  });

  await t.test('when the service fails, xvs_up is 0, the gauges go stale, and counters stay', async () => {
    await fetch(`${serviceUrl}/-/faults`, { method: 'PUT', body: '{"fault":"http_status","status":503}' });
    await prometheus.until(
      () => prometheus.value('xvs_up'),
      (up) => up === 0,
    );
    await prometheus.until(
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

  await t.test('when it recovers, so does everything', async () => {
    await fetch(`${serviceUrl}/-/faults`, { method: 'DELETE' });
    await prometheus.until(
      () => prometheus.value('xvs_up'),
      (up) => up === 1,
    );
    await prometheus.until(
      () => prometheus.value('sum(xvs_tasks)'),
      (tasks) => (tasks ?? 0) > 0,
    );
  });
});
