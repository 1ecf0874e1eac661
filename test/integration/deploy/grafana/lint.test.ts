import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCommittedDashboards, parseDashboard, type Dashboard } from '../../../support/grafana.ts';
import { LINTER_RULES } from './linter-rules.ts';
import { PROJECT_RULES } from './project-rules.ts';
import type { DashboardRule } from './dashboard-rule.ts';

const RULES: Readonly<Record<string, DashboardRule>> = { ...LINTER_RULES, ...PROJECT_RULES };

for (const [file, dashboard] of readCommittedDashboards()) {
  test(`${file} follows the dashboard rules`, async (t) => {
    for (const [name, rule] of Object.entries(RULES)) {
      await t.test(name, () => {
        assert.deepEqual(rule(dashboard), []);
      });
    }
  });
}

const SOURCE = { type: 'prometheus', uid: '${datasource}' };
const VARIABLE_DEFAULTS = { type: 'query', datasource: SOURCE, multi: true, includeAll: true, refresh: 2 };

/** A small dashboard that follows all rules. */
const VALID_DASHBOARD = JSON.stringify({
  uid: 'xvs-small',
  title: 'Small',
  tags: ['xvs-exporter'],
  editable: true,
  schemaVersion: 42,
  links: [{ type: 'dashboards', tags: ['xvs-exporter'], includeVars: true, keepTime: true }],
  annotations: {
    list: [
      {
        name: 'Restarts',
        datasource: SOURCE,
        expr: 'process_start_time_seconds{cluster=~"$cluster", namespace=~"$namespace", job=~"$job", instance=~"$instance"} - xvs_up{cluster=~"$cluster", namespace=~"$namespace", job=~"$job", instance=~"$instance"}',
      },
    ],
  },
  templating: {
    list: [
      { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' },
      ...['cluster', 'namespace'].map((name) => ({
        name,
        query: `label_values(up, ${name})`,
        ...VARIABLE_DEFAULTS,
        allValue: '.*',
        hide: 2,
      })),
      { name: 'job', label: 'Job', query: 'label_values(up, job)', ...VARIABLE_DEFAULTS },
      {
        name: 'instance',
        label: 'Instance',
        query: 'label_values(up{job=~"$job"}, instance)',
        allValue: '.+',
        ...VARIABLE_DEFAULTS,
      },
    ],
  },
  panels: [
    { id: 1, type: 'row', title: 'A row', gridPos: { x: 0, y: 0, w: 24, h: 1 } },
    {
      id: 2,
      type: 'stat',
      title: 'A panel',
      description: 'What it is.',
      datasource: SOURCE,
      gridPos: { x: 0, y: 1, w: 12, h: 8 },
      fieldConfig: {
        defaults: { unit: 'bps', noValue: 'Nothing', thresholds: {} },
        overrides: [{ matcher: { options: 'Age of data' }, properties: [{ id: 'unit', value: 's' }] }],
      },
      options: { legend: { calcs: ['max'], sortBy: 'Last *', sortDesc: true } },
      targets: [
        {
          refId: 'A',
          datasource: SOURCE,
          legendFormat: '{{vs_id}}',
          expr: 'sum by (cluster, vs_id) (rate(xvs_input_bytes_total{cluster=~"$cluster", namespace=~"$namespace", job=~"$job", instance=~"$instance"}[$__rate_interval]))',
        },
      ],
    },
  ],
});

test('a valid dashboard violates no rule', () => {
  for (const rule of Object.values(RULES)) assert.deepEqual(rule(parseDashboard(VALID_DASHBOARD)), []);
});

/** For every rule, replacements in the text of the valid dashboard that violate it. */
const VIOLATIONS: Readonly<
  Record<string, readonly (readonly [original: string | RegExp, replacement: string])[]>
> = {
  'template-datasource-rule': [
    ['"query":"prometheus"', '"query":"loki"'],
    ['"name":"datasource"', '"name":"source"'],
  ],
  'template-job-rule': [
    ['"name":"job"', '"name":"jobs"'],
    ['"name":"job"', '"name":"job","allValue":".+"'],
  ],
  'template-instance-rule': [
    ['"allValue":".+",', ''],
    ['"label":"Instance"', '"label":"instance"'],
  ],
  'template-label-promql-rule': [
    ['label_values(up, job)', 'label_values(up{, job)'],
    ['label_values(up, job)', 'label_names()'],
  ],
  'template-on-time-change-reload-rule': [['"refresh":2', '"refresh":1']],
  'panel-datasource-rule': [['"uid":"${datasource}"', '"uid":"prometheus"']],
  'panel-title-description-rule': [
    ['"description":"What it is."', '"description":""'],
    ['"title":"A row",', ''],
  ],
  'panel-units-rule': [
    ['"unit":"bps"', '"unit":"bits per second"'],
    ['"unit":"bps",', ''],
    ['"value":"s"', '"value":"sec"'],
  ],
  'panel-no-targets-rule': [[/"targets":\[.*\](?=\}\]\}$)/, '"targets":[]']],
  'target-promql-rule': [
    ['sum by (cluster, vs_id) (', 'sum by (cluster, vs_id) ('.repeat(2)],
    ['$__rate_interval', '$__interval_of_mine'],
  ],
  'target-rate-interval-rule': [['[$__rate_interval]', '[5m]']],
  'target-job-rule': [
    [/(?<=total\{.*)job=~\\"\$job\\", /, ''],
    [/(?<=total\{.*)job=~/, 'job='],
  ],
  'target-instance-rule': [[', instance=~\\"$instance\\"}[', '}[']],
  'target-counter-agg-rule': [
    ['rate(xvs_input_bytes_total', 'delta(xvs_input_bytes_total'],
    ['expr":"sum', 'expr":"xvs_tasks_started_total{} + sum'],
  ],
  'legend-rule': [
    ['{{vs_id}}', '{{service_code}}'],
    ['{{vs_id}}', ''],
  ],
  'a dashboard has a fixed uid, the tag and the schema version': [
    ['"uid":"xvs-small",', ''],
    ['"tags":["xvs-exporter"],"editable"', '"tags":[],"editable"'],
    ['"schemaVersion":42', '"schemaVersion":41'],
  ],
  'users can edit a dashboard': [['"editable":true', '"editable":false']],
  'cluster and namespace are hidden variables': [
    ['"allValue":".*","hide":2', '"allValue":".*","hide":0'],
    ['"allValue":".*","hide":2', '"allValue":".+","hide":2'],
  ],
  'every selector matches cluster and namespace': [
    ['total{cluster=~\\"$cluster\\", ', 'total{'],
    [/(?<=total\{.*)namespace=~\\"\$namespace\\", /, ''],
  ],
  'no aggregation or join merges the codes, servers or exporters of two clusters': [
    ['by (cluster, vs_id)', 'by (vs_id)'],
    [' - xvs_up', ' - on (service_code) xvs_up'],
  ],
  'a legend with values is sorted by value': [
    ['"sortBy":"Last *",', ''],
    ['"sortDesc":true', '"sortDesc":false'],
  ],
  'ages are in seconds': [
    ['"id":"unit","value":"s"', '"id":"unit","value":"none"'],
    ['"title":"A panel"', '"title":"Age of data"'],
  ],
  'a dashboard links to the others and keeps time and variables': [
    ['"keepTime":true', '"keepTime":false'],
    ['"includeVars":true', '"includeVars":false'],
  ],
  'panel ids are unique': [
    ['"id":2', '"id":1'],
    ['"id":2,', ''],
  ],
  'refIds of the targets of a panel are unique': [
    ['"refId":"A",', ''],
    [/"targets":\[(.*)\](?=\}\]\}$)/, '"targets":[$1,$1]'],
  ],
  'no panel overlaps another or exceeds the grid': [
    ['"x":0,"y":1', '"x":0,"y":0'],
    ['"x":0,"y":1', '"x":13,"y":1'],
  ],
  'a panel has a text for missing data': [['"noValue":"Nothing",', '']],
  'a status panel has thresholds': [[',"thresholds":{}', '']],
  'every defined variable is used, and every used one is defined': [
    ['total{', 'total{vs_id=~\\"$vs_id\\", '],
    ['"name":"job"', '"name":"task"'],
  ],
  'annotations show restarts and API failures': [[' - xvs_up', ' - xvs_ret']],
};

test('every rule has a case that violates it', () => {
  assert.deepEqual(Object.keys(VIOLATIONS), Object.keys(RULES));
});

for (const [name, replacements] of Object.entries(VIOLATIONS)) {
  for (const [original, replacement] of replacements) {
    test(`${name}: rejects ${replacement === '' ? 'nothing' : replacement} in place of ${String(original)}`, () => {
      const broken = parseDashboard(replaceOnce(VALID_DASHBOARD, original, replacement));
      assert.notEqual(RULES[name]?.(broken).length ?? 0, 0);
    });
  }
}

function replaceOnce(text: string, original: string | RegExp, replacement: string): string {
  // A function keeps `$` in the replacement literal. Replacements of patterns use `$1`.
  const replaced =
    typeof original === 'string'
      ? text.replace(original, () => replacement)
      : text.replace(original, replacement);
  assert.notEqual(replaced, text, `Expected ${String(original)} in the valid dashboard`);
  return replaced;
}

test('each dashboard file is named after the uid of its dashboard', () => {
  const dashboards: readonly (readonly [string, Dashboard])[] = [...readCommittedDashboards()];
  assert.deepEqual(
    dashboards.map(([file]) => file),
    dashboards.map(([, { uid }]) => `${uid}.json`),
  );
});
