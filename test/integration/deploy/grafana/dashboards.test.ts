import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { UIDS } from '../../../../deploy/grafana/source/dashboard-builder.ts';
import { ALERT_SERIES, SCOPE, SHARED_LABELS } from '../../../../deploy/grafana/source/queries.ts';
import { renderDashboardFiles } from '../../../../deploy/grafana/source/dashboards.ts';
import { CATALOGUE } from '../../../../src/metrics/catalogue/catalogue.ts';
import { assertGolden } from '../../../support/fixtures.ts';
import {
  ALL_SELECTED,
  interpolate,
  listExpressions,
  parseDashboard,
  parseLabelValues,
} from '../../../support/grafana.ts';
import { listKnownSeries, findUnknownNames } from '../../../support/known-names.ts';
import { findUnaggregatedJoins, listMetricNames, parseSelectors } from '../../../support/promql.ts';

/** Values of variables that make an expression valid PromQL. */
const VALUES = { ...ALL_SELECTED, __range: '1h', __rate_interval: '5m' };

/** Units of Grafana that the dashboards use. Grafana shows a misspelt unit as text. */
const UNITS: readonly unknown[] = ['bps', 'bytes', 'decbytes', 'locale', 'none', 'percentunit', 's', 'short'];

const files = renderDashboardFiles();

for (const [name, text] of files) {
  test(`dashboards/${name} matches its source`, () => {
    assertGolden(`../../deploy/grafana/dashboards/${name}`, text);
  });
}

test('every dashboard has a source', () => {
  const folder = fileURLToPath(new URL('../../../../../deploy/grafana/dashboards', import.meta.url));
  assert.deepEqual(readdirSync(folder).toSorted(), [...files.keys()].toSorted());
});

const dashboards = [...files.values()].map((text) => parseDashboard(text));
const expressions = dashboards.flatMap((dashboard) =>
  listExpressions(dashboard).map(({ location, expr }) => ({
    place: location,
    expr: interpolate(expr, VALUES),
    raw: expr,
  })),
);
const panels = dashboards.flatMap((dashboard) => dashboard.panels).filter(({ type }) => type !== 'row');

test('dashboards query existing metrics and labels only', async () => {
  const known = await listKnownSeries();
  for (const { place, expr } of expressions) assert.deepEqual(findUnknownNames(expr, known), [], place);
});

test('joins aggregate the side of which they take one series', () => {
  for (const { place, expr } of expressions) assert.deepEqual(findUnaggregatedJoins(expr), [], place);
});

test('variables list existing labels only', async () => {
  const known = await listKnownSeries();
  for (const { templating } of dashboards) {
    for (const { query } of templating.list.filter(({ type }) => type === 'query')) {
      const { selector, label } = parseLabelValues(interpolate(query, VALUES));
      const withLabel = selector.endsWith('}') ? selector.slice(0, -1) : `${selector}{`;
      assert.deepEqual(findUnknownNames(`${withLabel}, ${label}="x"}`.replace('{, ', '{'), known), [], query);
    }
  }
});

test('every family of the catalogue is on some dashboard', () => {
  const shown = new Set(expressions.flatMap(({ expr }) => [...listMetricNames(expr)]));
  const hidden = Object.values(CATALOGUE)
    .map(({ name }) => name)
    .filter((name) => !shown.has(name) && !shown.has(`${name}_bucket`));
  assert.deepEqual(hidden, []);
});

test('every link to a dashboard keeps the time range and the scope', () => {
  const kept = ['__url_time_range', ...['datasource', ...SCOPE].map((name) => `${name}:queryparam`)];
  const links = [...files.values()].flatMap((text) => text.match(/(?<="url": ")\/d\/[^"]+/g) ?? []);
  assert.ok(links.length > 0);
  for (const link of links) for (const name of kept) assert.ok(link.includes(`\${${name}}`), link);
});

test('every link to a dashboard has an existing target', () => {
  const uids: ReadonlySet<string> = new Set(Object.values(UIDS));
  for (const text of files.values()) {
    for (const [, uid = ''] of text.matchAll(/"url": "\/d\/([\w-]+)/g)) assert.ok(uids.has(uid), uid);
  }
});

test('every selector of a target matches cluster, namespace, job and instance', () => {
  const alerts: readonly string[] = Object.values(ALERT_SERIES);
  for (const { place, raw } of expressions) {
    for (const name of SCOPE) {
      const marked = interpolate(raw.replaceAll(`${name}=~"$${name}"`, 'is_matched="yes"'), VALUES);
      const isOfTarget = (metric: string): boolean =>
        !alerts.includes(metric) || ['cluster', 'namespace'].includes(name);
      const unmatched = parseSelectors(marked).filter(
        ({ metric, labels }) => isOfTarget(metric) && !labels.includes('is_matched'),
      );
      assert.deepEqual(unmatched, [], `${place}: ${name}`);
    }
  }
});

test('no aggregation or join merges the codes, servers or exporters of two clusters or namespaces', () => {
  for (const { place, raw } of expressions) {
    for (const [, list = ''] of raw.matchAll(/ (?:by|on) \(([^)]+)\)/g)) {
      const labels = list.split(', ');
      const isShared = labels.some((label) => SHARED_LABELS.has(label));
      assert.ok(!isShared || (labels.includes('cluster') && labels.includes('namespace')), place);
    }
  }
});

test('every panel has a description, a text for missing data, targets, legends and a known unit', () => {
  for (const { title, description = '', targets, fieldConfig } of panels) {
    assert.notEqual(description, '', title);
    assert.notEqual(fieldConfig?.defaults.noValue ?? '', '', title);
    assert.ok(targets.length > 0 && targets.every(({ legendFormat = '' }) => legendFormat !== ''), title);
    const overridden = (fieldConfig?.overrides ?? []).flatMap(({ properties }) =>
      properties.flatMap(({ id, value }) => (id === 'unit' ? [value] : [])),
    );
    for (const unit of [fieldConfig?.defaults.unit, ...overridden])
      assert.ok(UNITS.includes(unit) || String(unit).startsWith('suffix:'), `${title}: unit ${String(unit)}`);
  }
});

test('every label of a legend is kept by the aggregations of its expression', () => {
  for (const { title, targets } of panels) {
    for (const { expr, legendFormat = '' } of targets.filter((target) => / by \(/.test(target.expr))) {
      const kept = new Set(
        [...expr.matchAll(/ by \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(', ')),
      );
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
      assert.deepEqual(
        shown.filter((label) => !kept.has(label)),
        [],
        title,
      );
    }
  }
});
