import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
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
    .filter(({ sources }) => sources.some(({ labels }) => labels['layer'] !== 'exporter'));
}

test('an alert inhibits only alerts of its own service code, unless it is about the exporter', () => {
  const inhibitions = listInhibitions();
  assert.equal(inhibitions.length, 8);
  for (const { equal, sources, targets } of inhibitions) {
    assert.ok(sources.length > 0 && targets.length > 0);
    assert.ok(equal.includes('service_code'), sources[0]?.alert);
  }
});

/** Two failed scrapes in a row, a minute apart. */
const BRIDGED_SECONDS = 120;

/** A stream that is back is up after `poll.stall_after` and a poll: the rules allow a minute for each. */
const RECOVERY_SECONDS = 120;

// While no exporter answers, no alert begins that its end could reveal. A stream has no rate until it has
// been up for two minutes.
test('alerts are held over failed scrapes, and those that hide others until these have recovered', () => {
  const inhibitions = listInhibitions().filter(({ equal }) => !equal.includes('task_name'));
  const isHiding = (rule: AlertRule): boolean =>
    inhibitions.some(({ sources }) => sources.some((source) => isDeepStrictEqual(source, rule)));
  const secondsOf = ({ keep_firing_for: hold = '0s' }: AlertRule): number =>
    (parseDuration(hold) ?? Number.NaN) / 1000;
  const [hiding, others] = [true, false].map((value) =>
    readAlertRules().filter((rule) => isHiding(rule) === value),
  );
  assert.ok(hiding && others);
  for (const rule of others) assert.ok([0, BRIDGED_SECONDS].includes(secondsOf(rule)), rule.alert);
  for (const rule of hiding) assert.equal(secondsOf(rule), BRIDGED_SECONDS + RECOVERY_SECONDS, rule.alert);
});

interface Alert {
  readonly alertname: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly status?: 'firing' | 'resolved';
}

const SUBJECTS = ['task_name', 'format', 'vs_id', 'service_code'];

/** Renders a template for a group of alerts, as Alertmanager sorts them. */
async function renderTemplate(name: string, alerts: readonly Alert[]): Promise<string> {
  using folder = new TemporaryFolder();
  const names = new Set(alerts.map(({ alertname }) => alertname));
  const data = {
    status: alerts.some(({ status }) => status !== 'resolved') ? 'firing' : 'resolved',
    groupLabels: names.size === 1 ? { alertname: alerts[0]?.alertname } : { service_code: 'A' },
    alerts: alerts.map(({ alertname, labels = {}, status = 'firing' }) => {
      const subject = SUBJECTS.flatMap((label) => labels[label] ?? []).join(' of ');
      return {
        status,
        labels: { alertname, severity: 'critical', ...labels },
        annotations: {
          description: `${subject} is down.`,
          action: `Mend ${alertname}.`,
          status_url: `https://exporter/?service_code=${subject}`,
          dashboard_url: 'https://grafana/d/xvs-service-code?a=1&b=2',
          runbook_url: `https://runbook#${alertname}`,
        },
      };
    }),
  };
  folder.replace('data.json', JSON.stringify(data));
  return await runAmtool(
    'template',
    'render',
    `--template.glob=${deployPath('alertmanager/templates/*.tmpl')}`,
    `--template.data=${folder.at('data.json')}`,
    `--template.text={{ template "${name}" . }}`,
  );
}

const linksOf = (alertname: string, subject: string): string =>
  `<https://exporter/?service_code=${subject}|Page> · <https://grafana/d/xvs-service-code?a=1&amp;b=2|Dashboard> · <https://runbook#${alertname}|Runbook>`;
const apiDown = (code: string, status: Alert['status'] = 'firing'): Alert => ({
  alertname: 'XvsApiDown',
  labels: { service_code: code },
  status,
});
const stream = (alertname: string, task: string, status: Alert['status'] = 'firing'): Alert => ({
  alertname,
  labels: { task_name: task, service_code: 'A' },
  status,
});

const ONE = [apiDown('A')];
const TWELVE = [...'ABCDEFGHIJKL'].map((code) => apiDown(code));
/** Two codes of three have current listings again. */
const TWO_ENDED = [apiDown('KIDS', 'resolved'), apiDown('MAIN'), apiDown('NEWS', 'resolved')];
const ELEVEN_ENDED = [...'ABCDEFGHIJK'].map((code) => apiDown(code, 'resolved'));
const DROPPED: readonly Alert[] = [
  { alertname: 'XvsTasksDropped', labels: { service_code: 'A' }, status: 'resolved' },
  { alertname: 'XvsTasksDropped', labels: { service_code: 'B' } },
];
/** A stream that has recovered, and another one that is slow. */
const RECOVERED_AND_SLOW = [
  stream('XvsExpectedTaskDown', 'main', 'resolved'),
  stream('XvsExpectedTaskSlow', 'low'),
];
const DOWN_AND_SLOW = [
  stream('XvsExpectedTaskDown', 'backup'),
  stream('XvsExpectedTaskDown', 'main'),
  stream('XvsExpectedTaskSlow', 'low'),
];
const BLACKHOLE = [
  {
    alertname: 'XvsDeliveryBlackhole',
    labels: { format: 'flv', vs_id: 's1', service_code: 'A' },
  },
];

const RENDERED: readonly [what: string, template: string, alerts: readonly Alert[], expected: string][] = [
  ['one alert', 'xvs.title', ONE, '[CRITICAL] XvsApiDown: A'],
  ['one alert', 'xvs.text', ONE, `• A is down.\n*First:* Mend XvsApiDown.\n${linksOf('XvsApiDown', 'A')}`],
  ['one alert', 'xvs.line', ONE, 'XvsApiDown: A is down. First: Mend XvsApiDown.'],
  ['twelve', 'xvs.title', TWELVE, '[CRITICAL] XvsApiDown: A, B, C, D, E, F, G, H, I, J and 2 more'],
  [
    'twelve',
    'xvs.text',
    TWELVE,
    [
      ...[...'ABCDEFGHIJ'].map((code) => `• ${code} is down.`),
      'and 2 more',
      '*First:* Mend XvsApiDown.',
      linksOf('XvsApiDown', 'A'),
    ].join('\n'),
  ],
  [
    'twelve',
    'xvs.line',
    TWELVE,
    'XvsApiDown: A is down. First: Mend XvsApiDown. All 12: XvsApiDown: A, B, C, D, E, F, G, H, I, J and 2 more',
  ],
  [
    'two of three that have ended',
    'xvs.title',
    TWO_ENDED,
    '[CRITICAL] 2 of 3 are up again: KIDS, NEWS; XvsApiDown: MAIN',
  ],
  [
    'two of three that have ended',
    'xvs.text',
    TWO_ENDED,
    [
      '*2 of 3 are up again: KIDS, NEWS*',
      '• MAIN is down.',
      '*First:* Mend XvsApiDown.',
      linksOf('XvsApiDown', 'MAIN'),
    ].join('\n'),
  ],
  [
    'two of three that have ended',
    'xvs.line',
    TWO_ENDED,
    '2 of 3 are up again: KIDS, NEWS. XvsApiDown: MAIN is down. First: Mend XvsApiDown.',
  ],
  [
    'eleven that have ended',
    'xvs.title',
    [...ELEVEN_ENDED, apiDown('L')],
    '[CRITICAL] 11 of 12 are up again: A, B, C, D, E, F, G, H, I, J and 1 more; XvsApiDown: L',
  ],
  ['all that have ended', 'xvs.title', ELEVEN_ENDED.slice(0, 2), '[RESOLVED] XvsApiDown: A, B'],
  ['a loss that has ended', 'xvs.title', DROPPED, '[CRITICAL] 1 of 2 is over: A; XvsTasksDropped: B'],
  [
    'the alert that fires',
    'xvs.title',
    RECOVERED_AND_SLOW,
    '[CRITICAL] 1 of 2 is over: XvsExpectedTaskDown of main of A; XvsExpectedTaskSlow: low of A',
  ],
  [
    'the alert that fires',
    'xvs.text',
    RECOVERED_AND_SLOW,
    `*1 of 2 is over: XvsExpectedTaskDown of main of A*\n• low of A is down.\n*First, XvsExpectedTaskSlow:* Mend XvsExpectedTaskSlow.\n${linksOf('XvsExpectedTaskSlow', 'low of A')}`,
  ],
  [
    'the alert that fires',
    'xvs.line',
    RECOVERED_AND_SLOW,
    '1 of 2 is over: XvsExpectedTaskDown of main of A. XvsExpectedTaskSlow: low of A is down. First: Mend XvsExpectedTaskSlow.',
  ],
  [
    'each of two alert names',
    'xvs.text',
    DOWN_AND_SLOW,
    [
      '• backup of A is down.',
      '• main of A is down.',
      '• low of A is down.',
      '*First, XvsExpectedTaskDown:* Mend XvsExpectedTaskDown.',
      '*First, XvsExpectedTaskSlow:* Mend XvsExpectedTaskSlow.',
      linksOf('XvsExpectedTaskDown', 'backup of A'),
    ].join('\n'),
  ],
  [
    'each of two alert names',
    'xvs.line',
    DOWN_AND_SLOW,
    'XvsExpectedTaskDown: backup of A is down. First: Mend XvsExpectedTaskDown. XvsExpectedTaskSlow: low of A is down. First: Mend XvsExpectedTaskSlow. All 3: XvsExpectedTaskDown: backup of A, main of A; XvsExpectedTaskSlow: low of A',
  ],
  ['a format of a server', 'xvs.title', BLACKHOLE, '[CRITICAL] XvsDeliveryBlackhole: flv of s1 of A'],
  [
    'an installation',
    'xvs.title',
    [{ alertname: 'XvsExporterAbsent', status: 'resolved' }],
    '[RESOLVED] XvsExporterAbsent: this installation',
  ],
];

for (const [what, name, alerts, expected] of RENDERED) {
  test(`${name} says which alerts, why, what to do first and where, for ${what}`, async (t) => {
    if (!isInstalled(t, 'amtool')) return;
    assert.equal(await renderTemplate(name, alerts), expected);
  });
}

test('no template turns a name into a mention of Slack', async (t) => {
  if (!isInstalled(t, 'amtool')) return;
  const mention = '<!channel>';
  for (const label of [...SUBJECTS, 'instance', 'job', 'cluster']) {
    const labels = { [label]: mention };
    const alerts: readonly Alert[] = [
      { alertname: 'XvsApiDown', labels },
      { alertname: 'XvsApiDown', labels, status: 'resolved' },
    ];
    assert.match(await renderTemplate('xvs.title', alerts), /‹!channel>/);
    for (const name of ['xvs.title', 'xvs.text'])
      assert.doesNotMatch(await renderTemplate(name, alerts), /<!/, label);
  }
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
