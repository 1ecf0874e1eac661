import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { UIDS } from '../../../../deploy/grafana/source/links.ts';
import { ALERT_SERIES, SCOPE, SHARED_LABELS } from '../../../../deploy/grafana/source/queries.ts';
import { CATALOGUE } from '../../../../src/metrics/catalogue.ts';
import { renderDashboardFiles } from '../../../../deploy/grafana/source/dashboards.ts';
import { readDeployFile } from '../../../support/deploy-files.ts';
import { assertGolden } from '../../../support/fixtures.ts';
import {
  ALL_SELECTED,
  interpolate,
  listExpressions,
  parseDashboard,
  parseLabelValues,
  parseQueryResult,
} from '../../../support/grafana.ts';
import { listKnownSeries, findUnknownNames } from '../../../support/known-names.ts';
import { findUnaggregatedJoins, parseSelectors } from '../../../support/promql.ts';
import { listRepositoryFolder } from '../../../support/repository.ts';

/** Values of variables that make an expression valid PromQL. */
const VALUES = { ...ALL_SELECTED, __range: '1h', __rate_interval: '5m' };

/** Units of Grafana that the dashboards use. Grafana shows a misspelt unit as text. */
const UNITS: readonly unknown[] = [
  'bps',
  'bytes',
  'decbytes',
  'locale',
  'none',
  'dtdurations',
  'percentunit',
  's',
  'sishort',
];

const files = renderDashboardFiles();

test('the dashboards are those of the source', () => {
  for (const [name, text] of files) assertGolden(`../../deploy/grafana/dashboards/${name}`, text);
  assert.deepEqual(listRepositoryFolder('deploy/grafana/dashboards'), [...files.keys()].toSorted());
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
    for (const { name, query } of templating.list.filter(({ type }) => type === 'query')) {
      if (name === 'job') {
        assert.deepEqual(findUnknownNames(parseQueryResult(interpolate(query, VALUES)), known), []);
        continue;
      }
      const { selector, label } = parseLabelValues(interpolate(query, VALUES));
      const withLabel = selector.endsWith('}') ? selector.slice(0, -1) : `${selector}{`;
      assert.deepEqual(findUnknownNames(`${withLabel}, ${label}="x"}`.replace('{, ', '{'), known), [], query);
    }
  }
});

test('every link to a dashboard leads to one, and keeps the time range and the scope', () => {
  const kept = ['__url_time_range', ...['datasource', ...SCOPE].map((name) => `${name}:queryparam`)];
  const uids: ReadonlySet<string> = new Set(Object.values(UIDS));
  const links = [...files.values()].flatMap((text) => text.match(/(?<="url": ")\/d\/[^"]+/g) ?? []);
  assert.ok(links.length > 0);
  for (const link of links) {
    assert.ok(uids.has(/^\/d\/([\w-]+)/.exec(link)?.[1] ?? ''), link);
    for (const name of kept) assert.ok(link.includes(`\${${name}}`), link);
  }
});

test('every selector of a target matches cluster, namespace, job and instance', () => {
  for (const { place, raw } of expressions) {
    for (const name of SCOPE) {
      const marked = interpolate(raw.replaceAll(`${name}=~"$${name}"`, 'is_matched="yes"'), VALUES);
      const isOfTarget = (metric: string): boolean =>
        metric !== ALERT_SERIES || ['cluster', 'namespace'].includes(name);
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

/** The thresholds of a panel and of its columns: the colours from values upwards. */
const thresholdsSchema = z.object({
  steps: z.array(z.object({ value: z.number().nullable(), color: z.string() })),
});
const listThresholds = ({ fieldConfig }: (typeof panels)[number]) =>
  [
    fieldConfig?.defaults['thresholds'],
    ...(fieldConfig?.overrides ?? []).flatMap(({ properties }) =>
      properties.filter(({ id }) => id === 'thresholds').map(({ value }) => value),
    ),
  ].flatMap((value) => thresholdsSchema.safeParse(value).data?.steps ?? []);

test('no dashboard has the uid of the folder, which would keep Grafana from loading it', () => {
  const { providers } = z
    .object({ providers: z.array(z.looseObject({ folderUid: z.string() })) })
    .parse(parse(readDeployFile('grafana/provisioning/dashboards/xvs-exporter.yml')));
  const uids = new Set(dashboards.map(({ uid }) => uid));
  for (const { folderUid } of providers) assert.ok(!uids.has(folderUid), folderUid);
});

test('cells without a value never show the text for a table without rows', () => {
  for (const { title, fieldConfig } of panels.filter(({ type }) => type === 'table')) {
    for (const { properties } of fieldConfig?.overrides ?? [])
      assert.deepEqual(properties.find(({ id }) => id === 'noValue')?.value, '–', title);
  }
});

test('rates of the current moment do not depend on the time range', () => {
  for (const { title, description = '', targets } of panels) {
    for (const { expr } of targets.filter(({ instant }) => instant === true)) {
      assert.doesNotMatch(expr, /\$__rate_interval/, title);
      if (/rate\(xvs_(?!exporter_)/.test(expr))
        assert.match(description, /Rates are of the last \d minutes/, title);
    }
  }
});

test('timelines show names of states in their colours, and link to a dashboard', () => {
  for (const { title, options, fieldConfig } of panels.filter(({ type }) => type === 'state-timeline')) {
    const { legend, perPage } = z
      .looseObject({ legend: z.looseObject({ showLegend: z.boolean() }), perPage: z.number() })
      .parse(options);
    assert.deepEqual([legend.showLegend, perPage], [false, 0], title);
    assert.match(JSON.stringify(fieldConfig?.defaults['color']), /"fixed"/, title);
    assert.match(JSON.stringify(fieldConfig?.defaults['mappings']), /"color"/, title);
    assert.match(JSON.stringify(fieldConfig?.overrides), /\/d\/xvs-/, title);
  }
});

test('green begins at 0, so that what is unknown is not green', () => {
  for (const panel of panels.filter(({ type }) => ['stat', 'table'].includes(type))) {
    for (const { value, color } of listThresholds(panel))
      if (color === 'green') assert.ok(value !== null, panel.title);
    for (const { expr } of panel.targets.filter((target) => target.expr.includes('vector(0)')))
      assert.doesNotMatch(expr, /[( ](xvs_)?up\{/, panel.title);
  }
});

test('a stopped exporter stays in the table, as down', () => {
  const { targets } = panels.find(({ title }) => title === 'Exporters') ?? assert.fail('no table');
  assert.match(
    targets[0]?.expr ?? '',
    /up\{.*service_code=""\}.* or 0 \* .*last_over_time\(up\{.*\}\[\$__range\]/,
  );
});

test('the alerts of the dashboard of service codes are those of the selected ones', () => {
  const { panels: ofCode = [] } = dashboards.find(({ uid }) => uid === UIDS.serviceCode) ?? {};
  const alerts = ofCode.flatMap(({ targets }) => targets).filter(({ expr }) => expr.includes('ALERTS{'));
  assert.equal(alerts.length, 2);
  for (const { expr } of alerts)
    assert.equal(expr.split('ALERTS{').length, expr.split('service_code=~"$service_code"').length);
});

test('an axis has one measure', () => {
  for (const [one, other] of [
    [CATALOGUE.webRequestsRejected, CATALOGUE.webConnectionsClosed],
    [CATALOGUE.stateWriteErrors, CATALOGUE.stateDelayedPublications],
    [CATALOGUE.tasksStalled, CATALOGUE.byteCountsWaiting],
  ] as const) {
    const has = (name: string, { targets }: (typeof panels)[number]): boolean =>
      targets.some(({ expr }) => expr.includes(`${name}{`));
    assert.ok(
      panels.some((panel) => has(one.name, panel) && panel.type === 'timeseries'),
      one.name,
    );
    const both = panels.filter((panel) => has(one.name, panel) && has(other.name, panel));
    assert.deepEqual(
      both.map(({ title }) => title),
      [],
    );
  }
});

test('headers of columns fit', () => {
  for (const { title, fieldConfig } of panels.filter(({ type }) => type === 'table')) {
    for (const { matcher, properties } of fieldConfig?.overrides ?? []) {
      const { options: header } = z.looseObject({ options: z.string() }).parse(matcher);
      const width = properties.find(({ id }) => id === 'custom.width' || id === 'custom.minWidth');
      const isKey = !properties.some(({ id }) => id === 'unit');
      if (!isKey) assert.ok(Number(width?.value) >= 24 + 7 * header.length, `${title}: ${header}`);
    }
  }
});

test('plots of service codes, servers, streams and tasks have at most twenty of them', () => {
  const isOne = /\{\{(service_code|vs_id|task_name|task|client_version)\}\}/;
  const isAmongTwenty = / and on \([^)]*\) topk\(20, avg_over_time\(.*\[\$__range:.*@ end\(\)\)\)?$/;
  for (const { title, targets } of panels.filter(({ type }) => type === 'timeseries')) {
    for (const { expr } of targets.filter((target) => isOne.test(target.legendFormat ?? '')))
      assert.match(expr, isAmongTwenty, title);
  }
});

test('dashboards refresh every minute, and do not ask for a month until its row is opened', () => {
  for (const text of files.values()) assert.match(text, /"refresh": "1m"/);
  const all = dashboards.flatMap((dashboard) => dashboard.panels);
  const months = all.flatMap((panel, index) =>
    panel['timeFrom'] === 'now/M' ? [[panel, index] as const] : [],
  );
  assert.ok(months.length > 0);
  for (const [{ queryCachingTTL, title }, index] of months) {
    const row = all.slice(0, index).findLast(({ type }) => type === 'row');
    assert.deepEqual([queryCachingTTL, row?.['collapsed']], [600_000, true], title);
  }
});

test('titles of stats fit, and are not replaced by a time range', () => {
  for (const { title = '', gridPos, timeFrom, hideTimeOverride } of panels.filter(
    ({ type }) => type === 'stat',
  )) {
    assert.ok(title.length <= 4.5 * (gridPos?.w ?? 0), title);
    assert.equal(hideTimeOverride, timeFrom === undefined ? undefined : true, title);
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
