import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { assertPromtoolAccepts, isInstalled } from '../../support/installed-programs.ts';
import { startProgram, type Program } from '../../support/program.ts';
import { Prometheus } from '../../support/prometheus.ts';
import { startSimulatorProgram } from '../../support/simulator-program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { RunningExporter } from './running-exporter.ts';

/** With this seed, no task ends during the test. */
const startSimulator = (): Program => startSimulatorProgram('--seed=321', '--users=5', '--tasks=12');

/** Starts an exporter with state and one service code with these labels. */
function startExporter(folder: TemporaryFolder, url: string, labels: string): Program {
  folder.replace(
    'config.yml',
    `upstream: { base_url: "${url}" }
poll: { interval: 1s }
metrics: { per_task: true }
state: { path: state }
service_codes: [{ service_code: TESTING, secret: abc, labels: ${labels} }]
`,
  );
  return startProgram([`--config.file=${folder.at('config.yml')}`, '--web.listen-address=127.0.0.1:0']);
}

/** Asserts that a real Prometheus stores the labels on all series of the code and on no other series. */
async function assertPrometheusStoresLabels(t: TestContext, port: number): Promise<void> {
  if (!isInstalled(t, 'prometheus')) return;
  await using prometheus = await Prometheus.start({ targets: [`127.0.0.1:${port}`] });
  const wanted = '{tenant="acme",env="say \\"test\\""}';
  await prometheus.waitUntil(
    () => prometheus.value(`xvs_up${wanted}`),
    (up) => up === 1,
  );
  const unlabelled = 'count({service_code!="",tenant=""}) or vector(0)';
  assert.equal(await prometheus.value(unlabelled), 0);
  assert.equal(await prometheus.value('count({service_code="",tenant!=""}) or vector(0)'), 0);
  for (const family of ['xvs_task_lifetime_seconds_bucket', 'xvs_input_bytes_total', 'xvs_task_info'])
    assert.ok(((await prometheus.value(`count(${family}${wanted})`)) ?? 0) > 0, family);
}

test(
  'every series of a code has its labels, and counters continue if the labels change at a restart',
  { timeout: 600_000 },
  async (t) => {
    using folder = new TemporaryFolder();
    await using service = startSimulator();
    const url = await service.waitForUrl();
    const first = startExporter(folder, url, `{ tenant: acme, env: 'say "test"' }`);
    let counted = 0;
    try {
      const exporter = await RunningExporter.attach(first);
      await waitUntil(
        () => exporter.sumFamily('xvs_input_bytes_total', 'TESTING'),
        (sum) => (sum ?? 0) > 1_000_000,
      );
      const text = await exporter.fetchMetrics();
      assertPromtoolAccepts(t, text);
      const own = text.split('\n').filter((line) => line.includes('service_code="TESTING"'));
      assert.ok(own.length > 50);
      for (const line of own) assert.match(line, /,env="say \\"test\\"",tenant="acme"[,}]/);
      await assertPrometheusStoresLabels(t, await first.waitForPort());
      counted = (await exporter.sumFamily('xvs_input_bytes_total', 'TESTING')) ?? 0;
    } finally {
      await first[Symbol.asyncDispose]();
    }
    await using second = startExporter(folder, url, '{ tenant: globex }');
    const restarted = await RunningExporter.attach(second);
    await restarted.waitUntilUp('TESTING');
    assert.ok(((await restarted.sumFamily('xvs_input_bytes_total', 'TESTING')) ?? 0) >= counted);
    assert.match(
      await restarted.fetchMetrics(),
      /xvs_input_bytes_total\{service_code="TESTING",vs_id="[^"]+",tenant="globex"\}/,
    );
  },
);
