import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ALL_SELECTED, interpolate, readCommittedDashboards } from '../../../support/grafana.ts';
import { isInstalled } from '../../../support/installed-programs.ts';

const VARIABLES = { ...ALL_SELECTED, __rate_interval: '1m' };
const SCOPE = 'job="xvs-exporter", instance="exporter:20928", service_code="TESTING"';

/** Series of the same service code in two clusters, and without a cluster label. */
const SERIES = [
  [`xvs_listing_users{${SCOPE}, cluster="east"}`, 100],
  [`xvs_listing_users{${SCOPE}, cluster="west"}`, 20],
  [`xvs_listing_users{${SCOPE}}`, 3],
  // A replica that polls the same listing.
  [`xvs_listing_users{${SCOPE.replace('exporter:', 'replica:')}, cluster="east"}`, 100],
  [`xvs_tasks{${SCOPE}, vs_id="a", cluster="east"}`, 5],
  [`xvs_tasks{${SCOPE}, vs_id="a", cluster="west"}`, 7],
] as const;

/** Panels, targets, and the expected samples. */
const CASES = [
  [
    'xvs-overview.json',
    'Users online over time',
    [
      '{cluster="east", service_code="TESTING"} 100',
      '{cluster="west", service_code="TESTING"} 20',
      '{service_code="TESTING"} 3',
    ],
  ],
  ['xvs-overview.json', 'Users online', ['{} 123']],
  ['xvs-server.json', 'Tasks', ['{cluster="east", vs_id="a"} 5', '{cluster="west", vs_id="a"} 7']],
] as const;

function findExpression(file: string, name: string): string {
  const title = name.replace(' over time', '');
  const type = name === title && file === 'xvs-overview.json' ? 'stat' : 'timeseries';
  const panel = readCommittedDashboards()
    .get(file)
    ?.panels.find((candidate) => candidate.title === title && candidate.type === type);
  return interpolate(panel?.targets[0]?.expr ?? '', VARIABLES);
}

test('panels keep the codes and servers of two clusters apart, and count replicas once', (t) => {
  if (!isInstalled(t, 'promtool')) return;
  const folder = mkdtempSync(join(tmpdir(), 'xvs-clusters-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'clusters.yml');
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
    input_series: SERIES.map(([series, value]) => ({ series, values: `${value}x10` })),
    promql_expr_test: cases,
  };
  writeFileSync(path, JSON.stringify({ tests: [suite] }));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', path], { encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
});
