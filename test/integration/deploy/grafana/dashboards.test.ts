import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { UIDS } from '../../../../deploy/grafana/source/dashboard-builder.ts';
import { SCOPE } from '../../../../deploy/grafana/source/queries.ts';
import { renderDashboardFiles } from '../../../../deploy/grafana/source/dashboards.ts';
import { CATALOGUE } from '../../../../src/metrics/catalogue/catalogue.ts';
import { assertGolden } from '../../../support/fixtures.ts';
import { listExpressions, interpolate, parseDashboard, parseLabelValues } from '../../../support/grafana.ts';
import { listKnownSeries, findUnknownNames } from '../../../support/known-names.ts';
import { listMetricNames } from '../../../support/promql.ts';
import { PLACEHOLDER_VALUES } from './dashboard-rule.ts';

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
    expr: interpolate(expr, PLACEHOLDER_VALUES),
  })),
);

test('dashboards query existing metrics and labels only', async () => {
  const known = await listKnownSeries();
  for (const { place, expr } of expressions) assert.deepEqual(findUnknownNames(expr, known), [], place);
});

test('variables list existing labels only', async () => {
  const known = await listKnownSeries();
  for (const { templating } of dashboards) {
    for (const { query } of templating.list.filter(({ type }) => type === 'query')) {
      const { selector, label } = parseLabelValues(interpolate(query, PLACEHOLDER_VALUES));
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
