import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { ALERTMANAGER, Alertmanager } from '../../../support/alertmanager.ts';
import { readDeployFile } from '../../../support/deploy-files.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { scaleDurations } from '../../../support/scale-durations.ts';
import { waitUntil } from '../../../support/wait-until.ts';
import { startWebhookReceiver } from '../../../support/webhook-receiver.ts';

const routesSchema = z.looseObject({
  time_intervals: z.array(z.looseObject({ time_intervals: z.unknown() })),
  receivers: z.array(z.looseObject({ name: z.string() })),
});

/** The shipped file with its example of planned ends, whose hours are these. */
function readExample(times: readonly unknown[], url: string) {
  const example = /^ +# - matchers: \[alertname="XvsTasksVanished"\]\n[^]*?(?=^ +# Needs a human)/m;
  const text = readDeployFile('alertmanager/alertmanager.yml')
    .replace(example, (lines) => lines.replaceAll(/^( +)# /gm, '$1'))
    .replace(/^# time_intervals:\n(?:# .*\n)+/m, (lines) => lines.replaceAll(/^# /gm, ''));
  const config = routesSchema.parse(scaleDurations(text, 30));
  return {
    ...config,
    time_intervals: config.time_intervals.map((interval) => ({ ...interval, time_intervals: times })),
    receivers: config.receivers.map(({ name }) => ({ name, webhook_configs: [{ url: `${url}/${name}` }] })),
  };
}

const ENDED = [
  { alertname: 'XvsTasksVanished', severity: 'critical', layer: 'data', service_code: 'A' },
  { alertname: 'XvsTasksDropped', severity: 'warning', layer: 'data', service_code: 'B' },
  { alertname: 'XvsUsersDropped', severity: 'warning', layer: 'data', service_code: 'C' },
];

for (const [when, times, expected] of [
  ['within its hours', [{ months: ['1:12'] }], ['XvsApiDown xvs-critical']],
  [
    'at other times',
    [{ years: ['2000'] }],
    [
      'XvsApiDown xvs-critical',
      'XvsTasksDropped xvs-warning',
      'XvsTasksVanished xvs-critical',
      'XvsUsersDropped xvs-warning',
    ],
  ],
] as const)
  test(`the example of planned ends, ${when}, sends what the file sends`, async (t) => {
    if (!isInstalled(t, ALERTMANAGER)) return;
    const { url, notifications } = await startWebhookReceiver(t);
    await using alertmanager = await Alertmanager.start(readExample(times, url));
    await alertmanager.postAlerts(ENDED);
    await waitUntil(
      () => alertmanager.groups(),
      (groups) => groups.length === ENDED.length,
    );
    // Its group begins later, and waits as long.
    await alertmanager.postAlerts([{ alertname: 'XvsApiDown', severity: 'critical', service_code: 'D' }]);
    await waitUntil(
      () => notifications.map(({ labels, receiver }) => `${labels['alertname']} ${receiver}`).toSorted(),
      (sent) => sent.includes('XvsApiDown xvs-critical') && sent.length >= expected.length,
    );
    assert.deepEqual(
      notifications.map(({ labels, receiver }) => `${labels['alertname']} ${receiver}`).toSorted(),
      expected,
    );
  });
