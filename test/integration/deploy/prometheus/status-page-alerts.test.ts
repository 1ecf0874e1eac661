import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALERTS } from '../../../../src/web/status-page/problems.ts';
import { readAlertRules } from '../../../support/deploy-files.ts';

test('the pages name shipped alerts, each with its severity', () => {
  const shipped = new Map(readAlertRules().map(({ alert, labels }) => [alert, labels['severity']]));
  for (const [alert, [severity]] of Object.entries(ALERTS)) assert.equal(severity, shipped.get(alert), alert);
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
