import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isInstalled } from '../../support/installed-programs.ts';
import { startProgram, type Program } from '../../support/program.ts';
import { Prometheus } from '../../support/prometheus.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { GrowingService, RESTARTED } from './growing-service.ts';

/** Growing listings before each stop of the exporter. */
const GROWTHS_PER_RUN = 4;

const CONFIGURATION = `
tasks: { name: output.file_name }
service_codes: [{ service_code: TESTING, secret: abc, expect: { names: [${RESTARTED}] } }]
`;

/** Counters, and which bytes of the service they count. */
const COUNTERS = [
  ['xvs_input_bytes_total', 'all'],
  ['xvs_http_output_bytes_total', 'all'],
  ['xvs_expected_task_input_bytes_total', 'restarted'],
  ['xvs_expected_task_http_output_bytes_total', 'restarted'],
] as const;

test(
  'a real Prometheus shows the true increase over stops and kills of the exporter and restarts of a task',
  { timeout: 600_000 },
  async (t) => {
    if (!isInstalled(t, 'prometheus')) return;
    using folder = new TemporaryFolder();
    folder.replace('config.yml', CONFIGURATION);
    await using service = await new GrowingService().start();
    // All runs share one port, so that Prometheus sees the same series.
    const startExporter = async (port: number): Promise<Program> => {
      const program = startProgram([`--config.file=${folder.at('config.yml')}`, '--poll.interval=1s'], {
        XVS_UPSTREAM_BASE_URL: service.url,
        XVS_WEB_LISTEN_ADDRESS: `127.0.0.1:${port}`,
        XVS_STATE_PATH: folder.at('state'),
      });
      await program.waitForPort();
      return program;
    };

    const first = await startExporter(0);
    const port = await first.waitForPort();
    await using prometheus = await Prometheus.start({ targets: [`127.0.0.1:${port}`] });
    const waitForListings = async (count: number): Promise<void> => {
      const wanted = service.listings + count;
      await waitUntil(
        () => service.listings,
        (listings) => listings >= wanted,
      );
    };
    /** Lets the bytes grow, then freezes them until Prometheus has scraped all that the tasks carried. */
    const grow = async (growths: number): Promise<void> => {
      const wanted = service.growths + growths;
      service.isFrozen = false;
      await waitUntil(
        () => service.growths,
        (found) => found >= wanted,
      );
      service.isFrozen = true;
      // The third listing is requested after the second one was published.
      await waitForListings(3);
      const nowSeconds = Date.now() / 1000;
      for (const [counter] of COUNTERS)
        await prometheus.waitUntil(
          () => prometheus.value(`min(timestamp(${counter}))`),
          (seconds = 0) => seconds > nowSeconds,
        );
    };
    {
      await using program = first;
      // Every series exists, at 0, before the bytes grow.
      for (const [counter] of COUNTERS)
        await prometheus.waitUntil(
          () => prometheus.value(`count_over_time(${counter}[10m])`),
          (samples = 0) => samples >= 2,
        );
      await grow(GROWTHS_PER_RUN);
      program.signal('SIGTERM');
      assert.equal(await program.exitCode, 0);
    }
    {
      await using program = await startExporter(port);
      await grow(GROWTHS_PER_RUN);
      program.signal('SIGKILL');
      assert.equal(await program.exitCode, null);
      // Only the state has its last bytes.
      service.endTask();
    }
    await using _last = await startExporter(port);
    // In the first listing after a kill, gains of running tasks can offset published bytes of ended ones.
    await waitForListings(2);
    await grow(GROWTHS_PER_RUN);
    for (const [counter, bytes] of COUNTERS) {
      await t.test(counter, async () => {
        // Query at the time of a scrape, so that `increase` does not extrapolate.
        const time = await prometheus.value(`max(timestamp(${counter}))`);
        const [found] = await prometheus.query(`sum(increase(${counter}[10m]))`, time);
        const truth = service.truth[bytes];
        const increase = found?.value ?? Number.NaN;
        assert.ok(
          Math.abs(increase / truth - 1) < 0.01,
          `Expected an increase of ${truth} B, found ${increase} B`,
        );
        assert.equal(await prometheus.value(`max(resets(${counter}[10m]))`), 0);
      });
    }
  },
);
