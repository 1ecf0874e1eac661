import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseDuration } from '../../../../src/config/units.ts';
import { readDeployFile, listDeployYaml, readAlertRules } from '../../../support/deploy-files.ts';

const unitTestFile = z.object({
  evaluation_interval: z.string(),
  tests: z.array(
    z.object({
      input_series: z.array(z.object({ series: z.string() })).default([]),
      alert_rule_test: z
        .array(
          z.object({
            alertname: z.string(),
            eval_time: z.string(),
            exp_alerts: z.array(z.unknown()).default([]),
          }),
        )
        .default([]),
      promql_expr_test: z.array(z.object({ expr: z.string() })).default([]),
    }),
  ),
});

const seconds = (duration: string): number => (parseDuration(duration) ?? Number.NaN) / 1000;

const files = listDeployYaml('prometheus/tests').map((name) =>
  unitTestFile.parse(parse(readDeployFile(name))),
);

/**
 * Lists for each unit test of an alert the seconds at which it expects the alert to fire, and not to fire.
 */
function listScenarios(alert: string) {
  return files.flatMap(({ evaluation_interval: step, tests }) =>
    tests.flatMap(({ alert_rule_test: cases }) => {
      const own = cases.filter(({ alertname }) => alertname === alert);
      if (own.length === 0) return [];
      const [firing, silent] = [true, false].map((isFiring) =>
        own.filter((one) => one.exp_alerts.length > 0 === isFiring).map((one) => seconds(one.eval_time)),
      );
      return [{ stepSeconds: seconds(step), firing: firing ?? [], silent: silent ?? [] }];
    }),
  );
}

for (const { alert } of readAlertRules()) {
  // Ranges of Prometheus 3 exclude their start: an alert on a range may fire one step earlier than in
  // Prometheus 2.
  test(`a test expects ${alert} to fire, not to fire one or two steps earlier, and not to fire on other data`, () => {
    const scenarios = listScenarios(alert);
    const beginsExactly = scenarios.some(({ firing, silent, stepSeconds }) =>
      [1, 2].some((steps) => silent.includes(Math.min(...firing) - steps * stepSeconds)),
    );
    assert.ok(beginsExactly);
    assert.ok(scenarios.some(({ firing, silent }) => firing.length === 0 && silent.length > 0));
  });
}
