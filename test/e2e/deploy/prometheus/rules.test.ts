import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { renderDashboardFiles } from '../../../../deploy/grafana/source/dashboards.ts';
import { readRepositoryFile } from '../../../support/repository.ts';
import {
  readDeployFile,
  readAlertRules,
  readRuleGroups,
  readRules,
  readRecordingRules,
  readRunbookQueries,
} from '../../../support/deploy-files.ts';
import { listKnownSeries, findUnknownNames } from '../../../support/known-names.ts';
import { findUnaggregatedJoins, listMetricNames } from '../../../support/promql.ts';

const dashboardSchema = z.looseObject({
  uid: z.string(),
  templating: z.looseObject({ list: z.array(z.looseObject({ name: z.string() })) }),
});
const PROJECT = z.object({ runbook: z.string() }).parse(JSON.parse(readRepositoryFile('project.json')));
/** The placeholder address of Grafana in the rules. */
const GRAFANA = 'https://grafana.example.com/d/';
const DASHBOARDS = new Map(
  [...renderDashboardFiles().values()].map((text) => {
    const { uid, templating } = dashboardSchema.parse(JSON.parse(text));
    return [uid, new Set(templating.list.map(({ name }) => `var-${name}`))];
  }),
);

/** Labels that recorded series of each level may have, besides those of the installation. */
const LEVELS: Readonly<Record<string, readonly string[]>> = {
  job: [],
  service_code: ['service_code'],
  service_code_vs_id: ['service_code', 'vs_id'],
  service_code_task_name: ['service_code', 'task_name'],
  service_code_vs_id_format: ['service_code', 'vs_id', 'format'],
};

function parseLevel(record: string): string {
  return record.slice(0, record.indexOf(':'));
}

for (const { alert, labels, annotations, for: wait } of readAlertRules()) {
  test(`${alert} has severity, layer, summary, description, the first thing to do and links`, () => {
    assert.match(alert, /^Xvs[A-Z]\w+$/);
    assert.deepEqual(Object.keys(labels).toSorted(), ['layer', 'severity']);
    assert.match(labels['severity'] ?? '', /^(critical|warning)$/);
    assert.match(labels['layer'] ?? '', /^(exporter|api|data)$/);
    assert.deepEqual(
      Object.keys(annotations)
        .toSorted()
        .filter((name) => name !== 'status_url'),
      ['action', 'dashboard_url', 'description', 'runbook_url', 'summary'],
    );
    assert.match(annotations['summary'] ?? '', /^.{20,120}\.$/);
    assert.match((annotations['description'] ?? '').replaceAll(/\{\{.*?\}\}/g, '…'), /^.{40,300}\.$/);
    assert.match(annotations['action'] ?? '', /^[A-Z].{10,110}\.$/);
    assert.equal(annotations['runbook_url'], `${PROJECT.runbook}#${alert}`);
    assert.doesNotMatch(JSON.stringify(labels), /\{\{/);
    assert.doesNotMatch(annotations['summary'] ?? '', /\$value/);
    assert.notEqual(wait, '0s');
  });

  test(`${alert} links to a dashboard, filtered by its own labels`, () => {
    const url = annotations['dashboard_url'] ?? '';
    assert.ok(url.startsWith(GRAFANA), url);
    const [uid = '', query = ''] = url.slice(GRAFANA.length).split('?');
    const variables = DASHBOARDS.get(uid);
    assert.ok(variables !== undefined, `Expected a dashboard, found ${uid}`);
    for (const parameter of query.split('&').filter((part) => part !== '')) {
      const [, name = '', label] = /^(var-\w+)=\{\{ \$labels\.(\w+) \| urlquery \}\}$/.exec(parameter) ?? [];
      assert.ok(variables.has(name), parameter);
      assert.equal(name, `var-${label}`);
    }
  });
}

test('rules use existing metrics and labels only', async () => {
  const recorded = readRecordingRules().map(({ record }): [string, ReadonlySet<string>] => [
    record,
    new Set(LEVELS[parseLevel(record)]),
  ]);
  const known = new Map([...(await listKnownSeries()), ...recorded]);
  assert.deepEqual(
    readRules().flatMap(({ expr }) => findUnknownNames(expr, known)),
    [],
  );
});

test('no group has more rules than Mimir accepts, and few series are recorded', () => {
  const groups = readRuleGroups();
  assert.ok(groups.length > 1);
  assert.deepEqual(
    groups.filter(({ rules }) => rules.length > 20).map(({ name }) => name),
    [],
  );
  assert.ok(readRecordingRules().length <= 6);
});

test('a rule reads series that its own group records before it, and each is read', () => {
  const read = new Set<string>();
  for (const { rules } of readRuleGroups()) {
    const recorded = new Set<string>();
    for (const rule of rules) {
      const names = [...listMetricNames(rule.expr)].filter((name) => name.includes(':'));
      assert.deepEqual(
        names.filter((name) => !recorded.has(name)),
        [],
      );
      for (const name of names) read.add(name);
      if ('record' in rule) recorded.add(rule.record);
    }
  }
  assert.deepEqual(
    readRecordingRules().filter(({ record }) => !read.has(record)),
    [],
  );
});

test('no rule reads alerts, but the one that compares service codes', () => {
  const readers = readRules().filter(({ expr }) => /\bALERTS/.test(expr));
  assert.deepEqual(
    readers.map((rule) => 'alert' in rule && rule.alert),
    ['XvsTasksVanished'],
  );
});

/** The code in the pages that show queries. */
const DOCUMENTED = [
  'README.md',
  'docs/questions.md',
  'docs/scaling.md',
  'deploy/prometheus/README.md',
].flatMap((file) => [...readRepositoryFile(file).matchAll(/`([^`\n]*)`/g)].map(([, code = '']) => code));

test('joins of rules and of documented queries aggregate the side of which they take one series', () => {
  const documented = DOCUMENTED.filter((code) => / group_(?:left|right) /.test(code));
  assert.equal(documented.length, 1);
  const queries = [...documented, ...readRunbookQueries(), ...readRules().map(({ expr }) => expr)];
  assert.deepEqual(queries.flatMap(findUnaggregatedJoins), []);
});

test('sums of documented queries count replicas once, or keep them apart', () => {
  const sums = [...DOCUMENTED, ...readRunbookQueries()].filter((code) => /\bsum\b.*\(/.test(code));
  assert.ok(sums.length > 5);
  const once =
    /\bsum( by \([^)]*\) | )?\(max without \(instance, pod, job\)|\bsum (by \(instance\)|without \((state|instance)\))/g;
  assert.deepEqual(
    sums.filter((code) => /\bsum\b/.test(code.replaceAll(once, ''))),
    [],
  );
});

/** The rules whose alerts, if any, are on what listings report. */
const DATA_RULES = readRuleGroups()
  .flatMap(({ rules }) => rules)
  .filter((rule) => !('alert' in rule) || rule.labels['layer'] === 'data');

test('rules on data ask whether a listing is current, not whether the last poll succeeded', () => {
  assert.ok(DATA_RULES.length > 15);
  assert.deepEqual(
    DATA_RULES.filter(({ expr }) => listMetricNames(expr).has('xvs_up')),
    [],
  );
});

test('rules look back for the last known level of a recorded series, and at no single moment', () => {
  const lookBack = /last_over_time\(\w+:\w+:\w+\[\w+\] offset \w+\)/g;
  assert.ok(readRules().some(({ expr }) => lookBack.test(expr)));
  assert.deepEqual(
    readRules().filter(({ expr }) => /\boffset /.test(expr.replaceAll(lookBack, ''))),
    [],
  );
});

const prometheusConfig = z.looseObject({
  scrape_configs: z.array(z.looseObject({ job_name: z.string() })),
});

function readConfig(name: string) {
  return prometheusConfig.parse(parse(readDeployFile(`prometheus/${name}`)));
}

const listJobs = (name: string): readonly string[] =>
  readConfig(name).scrape_configs.map(({ job_name: job }) => job);

test('the job of prometheus.yml and prometheus-sd.yml is that of the rules', () => {
  const jobs = new Set(
    readAlertRules().flatMap(({ expr }) => [...expr.matchAll(/job="([^"]*)"/g)].map((match) => match[1])),
  );
  for (const name of ['prometheus-sd.yml', 'prometheus.yml']) assert.deepEqual([...jobs], listJobs(name));
});

for (const name of ['prometheus-sd.yml', 'prometheus-shards.yml']) {
  test(`${name} differs from prometheus.yml only in its jobs`, () => {
    const [discovering, plain] = [name, 'prometheus.yml'].map(readConfig);
    assert.deepEqual({ ...discovering, scrape_configs: [] }, { ...plain, scrape_configs: [] });
  });
}
