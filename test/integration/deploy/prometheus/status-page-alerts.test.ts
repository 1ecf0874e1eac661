import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALERT_BOUNDS } from '../../../../src/tally/alert-bounds.ts';
import { ALERTS } from '../../../../src/web/status-page/problems.ts';
import { readAlertRules } from '../../../support/deploy-files.ts';

/** Alerts whose action is not that of the pages. */
const OTHER_ACTIONS: ReadonlyMap<string, string> = new Map([
  ['XvsApiDown', 'sends to the page, which has the remedies of the failure, or that of a stale listing'],
  ['XvsBytesImplausible', 'fires after 15 minutes; the page shows each byte count that waits at once'],
]);

test('the pages name shipped alerts, each with its severity and its action', () => {
  const shipped = readAlertRules();
  for (const [name, [severity, action]] of Object.entries(ALERTS)) {
    const rules = shipped.filter(({ alert, labels }) => alert === name && labels['severity'] === severity);
    const actions = new Set(rules.map(({ annotations }) => annotations['action']));
    assert.ok(actions.size > 0, name);
    if (OTHER_ACTIONS.has(name)) assert.ok(!actions.has(action), name);
    else assert.deepEqual(actions, new Set([action]), name);
  }
});

test('pages, log and rules share their bounds', () => {
  const { lostTasks, usersThatStay, liveAccountShare, certificateDays, criticalCertificateDays } =
    ALERT_BOUNDS;
  const days = (count: number): string => `< ${count} * 86400`;
  for (const [name, bounds] of [
    ['XvsTasksDropped', [`>= ${lostTasks}`, `>= ${usersThatStay}`]],
    ['XvsBytesNotCounted', [`> ${liveAccountShare}`]],
    ['XvsCertificateExpires', [days(certificateDays), days(criticalCertificateDays)]],
    ['XvsUpstreamCertificateExpires', [days(certificateDays), days(criticalCertificateDays)]],
  ] as const) {
    const rules = readAlertRules().filter(({ alert }) => alert === name);
    const exprs = rules.map(({ expr }) => expr).join(' ');
    for (const bound of bounds) assert.ok(exprs.includes(bound), `${name} ${bound}`);
  }
});

test('critical alerts on what the pages show link to the page of their service code', () => {
  const critical = readAlertRules().filter(
    ({ alert, labels }) => alert in ALERTS && labels['severity'] === 'critical',
  );
  assert.ok(critical.length > 5);
  assert.deepEqual(
    critical.filter(({ annotations }) => annotations['status_url'] === undefined),
    [],
  );
});
