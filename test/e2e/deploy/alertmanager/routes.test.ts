import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { runAmtool } from '../../../support/amtool.ts';
import { parseDuration } from '../../../../src/config/units.ts';
import { type AlertRule, deployPath, readAlertRules, readDeployFile } from '../../../support/deploy-files.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { matchesAll, readInhibitions } from '../../../support/night/notifications.ts';
import { TemporaryFolder } from '../../../support/temporary-folder.ts';

const FILE = 'alertmanager/alertmanager.yml';
const configSchema = z.looseObject({
  route: z.looseObject({ routes: z.array(z.unknown()) }),
  receivers: z.array(z.unknown()),
  inhibit_rules: z.array(z.unknown()),
});

const findReceiver = (file: string, ...labels: readonly string[]): Promise<string> =>
  runAmtool('config', 'routes', 'test', `--config.file=${file}`, ...labels);

/** Alerts of other software, as kube-prometheus-stack has them. */
const OTHERS = [
  ['alertname=Watchdog', 'severity=none'],
  ['alertname=KubeNodeNotReady', 'severity=critical'],
  ['alertname=TargetDown', 'severity=warning', 'job=xvs-exporter'],
];

test('the file takes each alert of the rules, by its severity, and no other', async (t) => {
  if (!isInstalled(t, 'amtool')) return;
  const file = deployPath(FILE);
  assert.match(await runAmtool('check-config', file), /SUCCESS/);
  for (const { alert, labels } of readAlertRules()) {
    const { severity = '' } = labels;
    const receiver = await findReceiver(file, `alertname=${alert}`, `severity=${severity}`);
    assert.equal(receiver, `xvs-${severity}`, alert);
  }
  for (const labels of OTHERS) assert.equal(await findReceiver(file, ...labels), 'others');
});

test('put first in a configuration like that of kube-prometheus-stack, its route leaves the rest as it was', async (t) => {
  if (!isInstalled(t, 'amtool')) return;
  using folder = new TemporaryFolder();
  const { route, receivers, inhibit_rules } = configSchema.parse(parse(readDeployFile(FILE)));
  const watchdog = { receiver: 'watchdog', matchers: ['alertname = "Watchdog"'] };
  const config = (routes: readonly unknown[]) => ({
    route: { receiver: 'platform', group_by: ['namespace'], routes: [...routes, watchdog] },
    inhibit_rules,
    receivers: [{ name: 'platform' }, { name: 'watchdog' }, ...receivers],
  });
  folder.replace('before.yml', JSON.stringify(config([])));
  folder.replace('after.yml', JSON.stringify(config(route.routes)));
  for (const labels of OTHERS) {
    assert.equal(
      await findReceiver(folder.at('after.yml'), ...labels),
      await findReceiver(folder.at('before.yml'), ...labels),
    );
  }
  assert.equal(
    await findReceiver(folder.at('after.yml'), 'alertname=XvsApiDown', 'severity=critical'),
    'xvs-critical',
  );
});

/** The defaults of `poll.stall_after` and `poll.interval`: a stream that is back is up only after both. */
const RECOVERY_SECONDS = 75;

/** The inhibitions, with the alerts that match their sources and targets, but for those of the exporter. */
function listInhibitions() {
  return readInhibitions(readDeployFile(FILE))
    .map((inhibition) => {
      const select = (matchers: readonly string[]) =>
        readAlertRules().filter(({ alert, labels }) => matchesAll({ ...labels, alertname: alert }, matchers));
      return {
        equal: inhibition.equal,
        sources: select(inhibition.source_matchers),
        targets: select(inhibition.target_matchers),
      };
    })
    .filter(({ sources }) => sources.every(({ labels }) => labels['layer'] !== 'exporter'));
}

test('an alert inhibits only alerts of its own service code, unless it is about the exporter', () => {
  const inhibitions = listInhibitions();
  assert.equal(inhibitions.length, 7);
  for (const { equal, sources, targets } of inhibitions) {
    assert.ok(sources.length > 0 && targets.length > 0);
    assert.ok(equal.includes('service_code'), sources[0]?.alert);
  }
});

// While no exporter answers, no alert begins that its end could reveal.
test('an alert fires for longer after its end than those that it inhibits', () => {
  const secondsOf = ({ keep_firing_for: keep = '0s' }: AlertRule) =>
    (parseDuration(keep) ?? Number.NaN) / 1000;
  for (const { sources, targets } of listInhibitions())
    for (const source of sources)
      for (const target of targets)
        assert.ok(
          secondsOf(source) >= secondsOf(target) + RECOVERY_SECONDS,
          `${source.alert} inhibits ${target.alert}`,
        );
});

/** A firing alert with these labels. */
function createAlert(labels: Readonly<Record<string, string>>): object {
  const { service_code: code } = labels;
  return {
    status: 'firing',
    labels: { alertname: 'XvsApiDown', severity: 'critical', ...labels },
    annotations: {
      description: `${code} has had no good listing since 18:02.`,
      action: 'Open the page.',
      status_url: `https://exporter/?service_code=${code}`,
      dashboard_url: 'https://grafana/d/xvs-service-code?a=1&b=2',
      runbook_url: 'https://runbook#XvsApiDown',
    },
  };
}

const renderTemplate = (name: string, codes: readonly string[]): Promise<string> =>
  renderAlerts(
    name,
    codes.map((code) => createAlert({ service_code: code })),
  );

async function renderAlerts(name: string, alerts: readonly object[]): Promise<string> {
  using folder = new TemporaryFolder();
  folder.replace('data.json', JSON.stringify({ status: 'firing', alerts }));
  return await runAmtool(
    'template',
    'render',
    `--template.glob=${deployPath('alertmanager/templates/*.tmpl')}`,
    `--template.data=${folder.at('data.json')}`,
    `--template.text={{ template "${name}" . }}`,
  );
}

const LINKS =
  '<https://exporter/?service_code=A|Page> · <https://grafana/d/xvs-service-code?a=1&amp;b=2|Dashboard> · <https://runbook#XvsApiDown|Runbook>';

const RENDERED: readonly [template: string, codes: readonly string[], expected: string][] = [
  ['xvs.title', ['A'], '[CRITICAL] XvsApiDown: A'],
  ['xvs.text', ['A'], `• A has had no good listing since 18:02.\n*First:* Open the page.\n${LINKS}`],
  ['xvs.line', ['A'], 'XvsApiDown: A has had no good listing since 18:02. First: Open the page.'],
  ['xvs.title', [...'ABCDEFGHIJKL'], '[CRITICAL] XvsApiDown: A, B, C, D, E, F, G, H, I, J and 2 more'],
  [
    'xvs.text',
    [...'ABCDEFGHIJKL'],
    [
      ...[...'ABCDEFGHIJ'].map((code) => `• ${code} has had no good listing since 18:02.`),
      'and 2 more',
      '*First:* Open the page.',
      LINKS,
    ].join('\n'),
  ],
  [
    'xvs.line',
    [...'ABCDEFGHIJKL'],
    'XvsApiDown: A has had no good listing since 18:02. First: Open the page. All 12: XvsApiDown: A, B, C, D, E, F, G, H, I, J and 2 more',
  ],
];

for (const [name, codes, expected] of RENDERED) {
  test(`${name} says for ${codes.length} alerts what, which, why, what to do first and where`, async (t) => {
    if (!isInstalled(t, 'amtool')) return;
    assert.equal(await renderTemplate(name, codes), expected);
  });
}

test('a name that looks like a mention of Slack is none', async (t) => {
  if (!isInstalled(t, 'amtool')) return;
  assert.match(await renderTemplate('xvs.text', ['<!channel>']), /^• &lt;!channel&gt; has had/);
  const alerts = [
    { task_name: '<!channel>' },
    { vs_id: '<!here>' },
    { service_code: '<@U1>' },
    { instance: '<a|b>' },
  ];
  const title = await renderAlerts('xvs.title', alerts.map(createAlert));
  assert.equal(
    title,
    '[CRITICAL] XvsApiDown: ‹!channel> of all service codes, ‹!here> of all service codes, ‹@U1>, ‹a|b>',
  );
});

test('each text of the example for Slack is one of the templates', () => {
  const [, example = ''] = /# {3}slack_configs:\n([^]*?)\n# {3}\w/.exec(readDeployFile(FILE)) ?? [];
  for (const field of ['title', 'fallback', 'text'])
    assert.match(example, new RegExp(`^# +${field}: '\\{\\{ template "xvs\\.\\w+" \\. \\}\\}'$`, 'm'));
});

test('the examples of receivers are valid', async (t) => {
  if (!isInstalled(t, 'amtool')) return;
  using folder = new TemporaryFolder();
  const [, examples = ''] = /for example\n#\n([^]*?)\n#\n/.exec(readDeployFile(FILE)) ?? [];
  const yaml = examples.replaceAll(/^# {3}/gm, '    ').replaceAll('…', 'http://receiver.example.com');
  folder.replace('a.yml', `route: { receiver: a }\nreceivers:\n  - name: a\n${yaml}\n`);
  assert.match(await runAmtool('check-config', folder.at('a.yml')), /SUCCESS/);
});
