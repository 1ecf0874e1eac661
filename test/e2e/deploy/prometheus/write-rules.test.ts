import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { runAmtool } from '../../../support/amtool.ts';
import { parseRuleGroups, readRunbookQueries, type AlertRule } from '../../../support/deploy-files.ts';
import { ALL_SELECTED, interpolate, listExpressions, parseDashboard } from '../../../support/grafana.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { listLabelLists, parseSelectors, type LabelList } from '../../../support/promql.ts';
import { runPromtool } from '../../../support/promtool.ts';
import { runScript } from '../../../support/repository.ts';
import { TemporaryFolder } from '../../../support/temporary-folder.ts';

const ENV = '--installation-label=env';
const NODE = '--target-label=node';
const LABELS = [ENV, '--installation-label=region', NODE, '--target-label=rack'] as const;
/** Labels that tell targets and installations apart without an option. */
const TARGET_LABELS = ['instance', 'pod', 'job', 'cluster', 'namespace'];

/** Writes everything that `npm run rules` writes into a temporary folder. */
function writeRules(...args: readonly string[]): TemporaryFolder {
  const folder = new TemporaryFolder();
  const { status, stderr } = runScript('write-rules.mjs', ...args, `--out=${folder.path}`);
  assert.equal(status, 0, stderr);
  return folder;
}

function read(folder: TemporaryFolder, name: string): string {
  return readFileSync(folder.at(name), 'utf8');
}

test('npm run rules writes names and addresses of an installation, and the rules pass their tests', async (t) => {
  using folder = writeRules(
    '--job=live-video',
    '--runbook-url=https://wiki.forge.test/alerts',
    '--grafana-url=https://grafana.forge.test/',
    '--exporter-url=https://exporter.forge.test/xvs',
  );
  const written = ['rules', 'tests', 'dashboards'].flatMap((name) =>
    readdirSync(folder.at(name)).map((file) => read(folder, `${name}/${file}`)),
  );
  for (const text of written) assert.doesNotMatch(text, /example\.com|job(="|: | )xvs-exporter/);
  const all = written.join('\n');
  for (const expected of [
    'up{job="live-video"',
    'up{job=~\\"live-video\\"}',
    'runbook_url: https://wiki.forge.test/alerts#XvsApiDown',
    '"url": "https://wiki.forge.test/alerts#${__value.raw}"',
    'dashboard_url: https://grafana.forge.test/d/xvs-overview',
    'status_url: https://exporter.forge.test/xvs/service-codes/?service_code=',
    '"query": "https://exporter.forge.test/xvs"',
  ])
    assert.ok(all.includes(expected), expected);
  if (!isInstalled(t, 'promtool')) return;
  assert.match(await runPromtool(['test', 'rules', folder.at('tests/clocks.yml')]), /SUCCESS/);
});

type Series = readonly [series: string, values: string];
type Sample = readonly [labels: string, value: number];

/** Asserts what expressions return at 8 minutes with rules that `npm run rules` writes. */
async function assertSamples(
  folder: TemporaryFolder,
  series: readonly Series[],
  cases: readonly (readonly [expr: string, ...samples: readonly Sample[]])[],
): Promise<void> {
  const history = {
    interval: '15s',
    input_series: series.map(([name, values]) => ({ series: name, values })),
    promql_expr_test: cases.map(([expr, ...samples]) => ({
      expr,
      eval_time: '8m',
      exp_samples: samples.map(([labels, value]) => ({ labels, value })),
    })),
  };
  const file = { rule_files: ['../rules/alerts.yml'], evaluation_interval: '15s', tests: [history] };
  writeFileSync(folder.at('tests/history.yml'), JSON.stringify(file));
  assert.match(await runPromtool(['test', 'rules', folder.at('tests/history.yml')]), /SUCCESS/);
}

const firing = (alert: string): string =>
  `count by (env, node) (ALERTS{alertname="${alert}", alertstate="firing"})`;

test('of two environments, the one that is down pages although the other is up', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  const history = [
    ['up{env="prod", job="xvs-exporter", instance="a:20928"}', '0x40'],
    ['up{env="dev", job="xvs-exporter", instance="b:20928"}', '1x40'],
  ] as const;
  using together = writeRules();
  await assertSamples(together, history, [
    [firing('XvsExporterDown')],
    [firing('XvsExporterInstanceDown'), ['{env="prod"}', 1]],
  ]);
  using apart = writeRules(ENV);
  await assertSamples(apart, history, [
    [firing('XvsExporterDown'), ['{env="prod"}', 1]],
    [firing('XvsExporterInstanceDown')],
  ]);
});

test('an installation label separates what `namespace` separates, in texts too', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  using folder = writeRules(ENV);
  const renamed = read(folder, 'tests/installations.yml').replaceAll(/\bnamespace(?=="|: )/g, 'env');
  assert.match(renamed, /env="two"/);
  writeFileSync(folder.at('tests/renamed.yml'), renamed);
  assert.match(await runPromtool(['test', 'rules', folder.at('tests/renamed.yml')]), /SUCCESS/);
});

/** Two replicas on two nodes, of which one does not reach the service any more. */
const CUT_OFF: readonly Series[] = ['n1', 'n2'].flatMap((node) => {
  const labels = `job="xvs-exporter", instance="${node}:20928", pod="${node}", node="${node}"`;
  const ofCode = `service_code="A", ${labels}`;
  const isCutOff = node === 'n2';
  return [
    [`up{${labels}}`, '1x40'],
    [`xvs_exporter_time_seconds{${labels}}`, '0+15x40'],
    [`xvs_up{${ofCode}}`, isCutOff ? '0x40' : '1x40'],
    [`xvs_exporter_polls_total{${ofCode}}`, '0+1x40'],
    [`xvs_exporter_poll_interval_seconds{${ofCode}}`, '15x40'],
    [`xvs_exporter_last_success_timestamp_seconds{${ofCode}}`, isCutOff ? '0x40' : '0+15x40'],
    [`xvs_exporter_listing_age_seconds{${ofCode}}`, isCutOff ? '0+15x40' : '0x40'],
    [`xvs_input_bytes_total{vs_id="s", ${ofCode}}`, '0+900x40'],
  ] as const;
});

test('a replica that is cut off does not page where `node` tells it from the other', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  using apart = writeRules();
  await assertSamples(apart, CUT_OFF, [[firing('XvsApiDown'), ['{node="n2"}', 1]]]);
  using together = writeRules(NODE);
  await assertSamples(together, CUT_OFF, [[firing('XvsApiDown')]]);
});

test('the documented rate counts replicas once where `node` tells them apart', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  const findRate = (folder: TemporaryFolder): string =>
    `round(${/`(sum\([^`]*xvs_input_bytes_total[^`]*)`/.exec(read(folder, 'questions.md'))?.[1]})`;
  using doubled = writeRules();
  await assertSamples(doubled, CUT_OFF, [[findRate(doubled), ['{}', 120]]]);
  using once = writeRules(NODE);
  await assertSamples(once, CUT_OFF, [[findRate(once), ['{}', 60]]]);
});

test('a static label of service codes may have the name of an installation label', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  using folder = writeRules(...LABELS);
  assert.match(read(folder, 'tests/labels.yml'), /service_code="A", env="test"/);
  assert.match(await runPromtool(['test', 'rules', folder.at('tests/labels.yml')]), /SUCCESS/);
});

const readAlerts = (folder: TemporaryFolder): readonly AlertRule[] =>
  parseRuleGroups(read(folder, 'rules/alerts.yml')).flatMap(({ rules }) =>
    rules.flatMap((rule) => ('alert' in rule ? [rule] : [])),
  );

/** Queries of a written dashboard, with values for its variables. */
function listDashboardQueries(text: string): readonly string[] {
  const values = { ...ALL_SELECTED, env: '.*', region: '.*', __range: '1h', __rate_interval: '1m' };
  return listExpressions(parseDashboard(text)).map(({ expr }) => interpolate(expr, values));
}

const isKept = ({ modifier }: LabelList): boolean => modifier === 'By' || modifier === 'On';

test('rules keep installation labels in each list but that of absent(), and drop target labels', () => {
  using folder = writeRules(...LABELS);
  const rules = parseRuleGroups(read(folder, 'rules/alerts.yml')).flatMap((group) => group.rules);
  const lists = rules.flatMap((rule) =>
    listLabelLists(rule.expr).map((list) => ({ name: 'alert' in rule ? rule.alert : rule.record, ...list })),
  );
  const [kept, dropped] = [lists.filter(isKept), lists.filter((list) => !isKept(list))];
  assert.ok(kept.length > 5 && dropped.length > 5);
  // absent() has no labels of installations.
  const mixing = kept.filter(({ labels }) => !labels.includes('env') || !labels.includes('region'));
  assert.deepEqual(mixing, [{ name: 'XvsExporterAbsent', modifier: 'On', labels: [] }]);
  // Lists without labels of targets drop labels of families.
  const splitting = dropped.filter(({ labels }) => !labels.includes('node') || !labels.includes('rack'));
  assert.deepEqual(
    splitting.filter(({ labels }) => labels.some((label) => TARGET_LABELS.includes(label))),
    [],
  );
});

test('queries of dashboards and runbook keep and drop the added labels beside those that they list', () => {
  using folder = writeRules(...LABELS);
  const queries = [
    ...readRunbookQueries(read(folder, 'runbook.md')),
    ...readdirSync(folder.at('dashboards')).flatMap((name) =>
      listDashboardQueries(read(folder, `dashboards/${name}`)),
    ),
  ];
  const lists = queries.flatMap(listLabelLists);
  const [kept, dropped] = [lists.filter(isKept), lists.filter((list) => !isKept(list))];
  const ofInstallations = kept.filter(({ labels }) => labels.includes('cluster'));
  const ofTargets = dropped.filter(({ labels }) => labels.includes('instance'));
  assert.ok(ofInstallations.length > 100 && ofTargets.length > 5);
  assert.deepEqual(
    [
      ...ofInstallations.filter(({ labels }) => !labels.includes('env') || !labels.includes('region')),
      ...ofTargets.filter(({ labels }) => !labels.includes('node') || !labels.includes('rack')),
    ],
    [],
  );
});

test('queries in texts select by the added labels of the alert', () => {
  using folder = writeRules(...LABELS);
  const texts = readAlerts(folder).flatMap(({ annotations }) => Object.values(annotations));
  const queries = texts.flatMap((text) => [...text.matchAll(/printf "([^"]*)"[^"|}]* \| query\b/g)]);
  assert.equal(queries.length, texts.join('').match(/\| query\b/g)?.length);
  // Each selector has the matchers that the text formats once.
  const selectors = queries.flatMap(([, query = '']) =>
    parseSelectors(query.replaceAll('%s', 'formatted=""')),
  );
  assert.deepEqual(
    selectors.filter(({ labels }) => !labels.includes('formatted')),
    [],
  );
  const formats = texts.flatMap((text) => [...text.matchAll(/printf ("[^"]*") ([^|}]*)/g)]);
  const selecting = formats.filter(([, format = '']) => format.includes('namespace'));
  assert.ok(selecting.length > 3);
  for (const [, format = '', values = ''] of selecting) {
    const labels = [...format.matchAll(/(\w+)=%q/g)].map(([, label = '']) => label);
    assert.ok(labels.includes('env') && labels.includes('region') && !labels.includes('node'), format);
    assert.deepEqual(
      values.match(/\$labels\.\w+/g),
      labels.map((label) => `$labels.${label}`),
    );
  }
});

test('Alertmanager groups and inhibits by installation labels, and by no target label', async (t) => {
  using folder = writeRules(...LABELS);
  const lists = [...read(folder, 'alertmanager/alertmanager.yml').matchAll(/(?:equal|group_by): \[(.*)\]/g)];
  assert.ok(lists.length > 5);
  for (const [, list = ''] of lists) assert.match(list, /^cluster, namespace\b(?!.*node).*, env, region$/);
  if (!isInstalled(t, 'amtool')) return;
  const output = await runAmtool('check-config', folder.at('alertmanager/alertmanager.yml'));
  assert.match(output, /SUCCESS[^]*1 templates/);
});

test('dashboards select by installation labels, in visible variables', () => {
  using folder = writeRules(...LABELS);
  for (const name of readdirSync(folder.at('dashboards'))) {
    const text = read(folder, `dashboards/${name}`);
    const { list } = parseDashboard(text).templating;
    assert.deepEqual(
      list.slice(2, 6).map(({ name: variable, hide }) => [variable, hide ?? 0]),
      [
        ['cluster', 2],
        ['namespace', 2],
        ['env', 0],
        ['region', 0],
      ],
    );
    assert.equal(list[4]?.query, 'label_values(xvs_exporter_build_info{cluster=~"$cluster"}, env)');
    const selectors = listDashboardQueries(text).flatMap(parseSelectors);
    const narrow = selectors.filter(({ labels }) => labels.includes('namespace'));
    assert.ok(narrow.length > 5);
    assert.deepEqual(
      narrow.filter(({ labels }) => !labels.includes('env') || !labels.includes('region')),
      [],
    );
    assert.doesNotMatch(text, /\{namespace:queryparam\}&(?!\$\{env:queryparam\}&\$\{region:queryparam\}&)/);
    assert.doesNotMatch(text, /\{\{cluster\}\}(?! \{\{env\}\} \{\{region\}\})/);
  }
});

for (const [args, message] of [
  [[], 'Expected --out=FOLDER, found none'],
  [['--out=/dev/null', '--target-label=a-b'], 'Expected a label name in --target-label, found "a-b"'],
  [['--out=/dev/null', '--installation-label='], 'Expected a label name in --installation-label, found ""'],
  [
    ['--out=/dev/null', '--target-label=__name__'],
    'Expected a label name in --target-label, found "__name__"',
  ],
  [
    ['--out=/dev/null', ENV, ENV],
    'Expected a label that the rules do not list yet in --installation-label, found env',
  ],
  [
    ['--out=/dev/null', ENV, '--target-label=env'],
    'Expected a label that the rules do not list yet in --target-label, found env',
  ],
  [
    ['--out=/dev/null', '--target-label=pod'],
    'Expected a label that the rules do not list yet in --target-label, found pod',
  ],
  [['--out=/dev/null', '--labels=env'], "Unknown option '--labels'"],
] as const) {
  test(`npm run rules ${args.join(' ')} ends with exit code 2 and says why`, () => {
    const { status, stderr } = runScript('write-rules.mjs', ...args);
    assert.equal(status, 2);
    assert.ok(stderr.startsWith(message), stderr);
    assert.equal(stderr.trim().split('\n').length, 1);
  });
}
