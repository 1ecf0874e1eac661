import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCommittedDashboards, type Dashboard } from '../../../support/grafana.ts';
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

test('each dashboard file is named after the uid of its dashboard', () => {
  const dashboards: readonly (readonly [string, Dashboard])[] = [...readCommittedDashboards()];
  assert.deepEqual(
    dashboards.map(([file]) => file),
    dashboards.map(([, { uid }]) => `${uid}.json`),
  );
});
