import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { ALL_SELECTED, interpolate, readCommittedDashboards } from '../../../support/grafana.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { runPromtool } from '../../../support/promtool.ts';
import { TemporaryFolder } from '../../../support/temporary-folder.ts';

const VARIABLES = { ...ALL_SELECTED, __range: '30s', __rate_interval: '1m' };
const SCOPE = 'job="xvs-exporter", instance="exporter:20928", service_code="TESTING"';

/** Series of the same service code in two clusters, in a namespace, and without a cluster label. */
const SERIES = [
  [`xvs_listing_users{${SCOPE}, cluster="east"}`, 100],
  [`xvs_listing_users{${SCOPE}, cluster="west"}`, 20],
  [`xvs_listing_users{${SCOPE}, cluster="west", namespace="live"}`, 7],
  [`xvs_listing_users{${SCOPE}}`, 3],
  // A replica that polls the same listing.
  [`xvs_listing_users{${SCOPE.replace('exporter:', 'replica:')}, cluster="east"}`, 100],
  [`xvs_tasks{${SCOPE}, vs_id="a", cluster="east"}`, 5],
  [`xvs_tasks{${SCOPE}, vs_id="a", cluster="west"}`, 7],
] as const;

const BYTES = `xvs_http_output_bytes_total{${SCOPE}, format="flv"`;
const ALERT = 'alertname="XvsIngestStalled", severity="warning", service_code="TESTING"';

/** Series that change, with samples every 15 seconds: the range of 30 s begins at the third one. */
const CHANGES = [
  [`${BYTES}, vs_id="steady"}`, '0+100x10'],
  [`${BYTES}, vs_id="restarted without state"}`, '900 900 900 0 50'],
  [`${BYTES}, vs_id="appeared within the range"}`, '_ _ _ 0 40'],
  [`ALERTS{${ALERT}, alertstate="firing"}`, '_ _ 1 1 1'],
  [`ALERTS{${ALERT}, cluster="east", alertstate="pending"}`, '1x10'],
  [`ALERTS_FOR_STATE{${ALERT}}`, '15x10'],
  [`ALERTS_FOR_STATE{${ALERT}, cluster="east"}`, '15x10'],
] as const;

/** Panels, targets, and the expected samples. */
const CASES = [
  [
    'xvs-overview.json',
    'Users online over time',
    [
      '{cluster="east", service_code="TESTING"} 100',
      '{cluster="west", namespace="live", service_code="TESTING"} 7',
      '{cluster="west", service_code="TESTING"} 20',
      '{service_code="TESTING"} 3',
    ],
  ],
  ['xvs-overview.json', 'Users online', ['{} 130']],
  ['xvs-overview.json', 'Egress volume', ['{} 290']],
  ['xvs-overview.json', 'Firing alerts', [`{${ALERT}} 45`]],
  ['xvs-server.json', 'Tasks', ['{cluster="east", vs_id="a"} 5', '{cluster="west", vs_id="a"} 7']],
] as const;

function findExpression(file: string, name: string): string {
  const title = name.replace(' over time', '');
  const isSeries = name !== title || file !== 'xvs-overview.json';
  const panel = readCommittedDashboards()
    .get(file)
    ?.panels.find((candidate) => candidate.title === title && (candidate.type === 'timeseries') === isSeries);
  return interpolate(panel?.targets[0]?.expr ?? '', VARIABLES);
}

test('panels keep clusters and namespaces apart, count replicas once, and show volumes and alerts', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  using folder = new TemporaryFolder();
  const cases = CASES.map(([file, title, samples]) => ({
    expr: findExpression(file, title),
    eval_time: '1m',
    exp_samples: samples.map((sample) => {
      const [, labels, value] = /^(.*) (\d+)$/.exec(sample) ?? [];
      return { labels, value: Number(value) };
    }),
  }));
  const suite = {
    interval: '15s',
    input_series: [
      ...SERIES.map(([series, value]) => ({ series, values: `${value}x10` })),
      ...CHANGES.map(([series, values]) => ({ series, values })),
    ],
    promql_expr_test: cases,
  };
  writeFileSync(folder.at('clusters.yml'), JSON.stringify({ tests: [suite] }));
  assert.match(await runPromtool(['test', 'rules', folder.at('clusters.yml')]), /SUCCESS/);
});
