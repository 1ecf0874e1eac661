import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isInstalled } from '../../support/installed-programs.ts';
import { startProgram, type Program } from '../../support/program.ts';
import { Prometheus } from '../../support/prometheus.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { GROWTHS_UNTIL_RETURN, INCREASE_CODES, IncreaseService } from './increase-service.ts';

const FAMILIES = { input: 'xvs_input_bytes_total', output: 'xvs_http_output_bytes_total' } as const;
/** Growing listings before each stop of the exporter. */
const GROWTHS_PER_RUN = 4;

/** Starts the exporter. All runs share one port, so that Prometheus sees the same series. */
async function startExporter(service: IncreaseService, statePath: string, port: number): Promise<Program> {
  const program = startProgram(['--poll.interval=1s'], {
    XVS_UPSTREAM_BASE_URL: service.url,
    XVS_SERVICE_CODES: INCREASE_CODES.join(','),
    XVS_SECRET: 'abc',
    XVS_WEB_LISTEN_ADDRESS: `127.0.0.1:${port}`,
    XVS_STATE_PATH: statePath,
  });
  await program.waitForPort();
  return program;
}

test(
  'a real Prometheus shows the true increase after wrong values, moves, partitions and kills',
  { timeout: 600_000 },
  async (t) => {
    if (!isInstalled(t, 'prometheus')) return;
    using folder = new TemporaryFolder();
    await using service = await IncreaseService.start();
    const statePath = folder.at('state');

    const first = await startExporter(service, statePath, 0);
    const port = await first.waitForPort();
    await using prometheus = await Prometheus.start({ targets: [`127.0.0.1:${port}`] });
    const all = `{__name__=~"${Object.values(FAMILIES).join('|')}"}`;
    const waitForListings = async (count: number): Promise<void> => {
      const { listings } = service.progress;
      await waitUntil(
        () => service.progress,
        (progress) => progress.listings >= listings + count,
      );
    };
    /** Lets the bytes grow, then freezes them until Prometheus has scraped all that the tasks carried. */
    const grow = async (growths: number): Promise<void> => {
      const wanted = service.progress.growths + growths;
      service.isFrozen = false;
      await waitUntil(
        () => service.progress,
        (progress) => progress.growths >= wanted,
      );
      service.isFrozen = true;
      // The third listing is requested after the second one was published.
      await waitForListings(3);
      const nowSeconds = Date.now() / 1000;
      await prometheus.waitUntil(
        () => prometheus.value(`min(timestamp(${all}))`),
        (seconds) => (seconds ?? 0) > nowSeconds,
      );
    };
    {
      await using program = first;
      // Every series exists, at 0, before the bytes grow.
      await prometheus.waitUntil(
        () => prometheus.value(`count(count_over_time(${all}[10m]) >= 2)`),
        (series) => series === 2 * (INCREASE_CODES.length + 1),
      );
      await grow(GROWTHS_PER_RUN);
      program.signal('SIGTERM');
      assert.equal(await program.exitCode, 0);
    }
    {
      await using program = await startExporter(service, statePath, port);
      await grow(GROWTHS_PER_RUN);
      program.signal('SIGKILL');
      assert.equal(await program.exitCode, null);
      service.endTasks();
    }
    await using _last = await startExporter(service, statePath, port);
    // In the first listing after a kill, gains of running tasks can offset published bytes of ended ones.
    await waitForListings(2);
    await grow(GROWTHS_UNTIL_RETURN - 2 * GROWTHS_PER_RUN);
    for (const [direction, family] of [
      ['input', FAMILIES.input],
      ['output', FAMILIES.output],
    ] as const) {
      for (const code of INCREASE_CODES) {
        await t.test(`${code}, ${direction}`, async () => {
          const selector = `${family}{service_code="${code}"}`;
          const truth = service.computeTruth(code);
          assert.ok(truth > 0);
          // Query at the time of a scrape, so that `increase` does not extrapolate.
          const time = await prometheus.value(`max(timestamp(${selector}))`);
          const [found] = await prometheus.query(`sum(increase(${selector}[10m]))`, time);
          const increase = found?.value ?? Number.NaN;
          assert.ok(
            Math.abs(increase / truth - 1) < 0.01,
            `Expected an increase of ${truth} B, found ${increase} B`,
          );
          t.diagnostic(`${code}, ${direction}: increase ${increase} B of ${truth} B`);
          assert.equal(await prometheus.value(`max(resets(${selector}[10m]))`), 0);
        });
      }
    }
  },
);
