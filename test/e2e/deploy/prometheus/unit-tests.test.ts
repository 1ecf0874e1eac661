import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseDuration } from '../../../../src/config/units.ts';
import {
  readDeployFile,
  listDeployYaml,
  readAlertRules,
  readRecordingRules,
} from '../../../support/deploy-files.ts';
import { listMetricNames } from '../../../support/promql.ts';

const unitTestFile = z.object({
  evaluation_interval: z.string(),
  tests: z.array(
    z.object({
      name: z.string(),
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
      promql_expr_test: z
        .array(z.object({ expr: z.string(), eval_time: z.string(), exp_samples: z.array(z.unknown()) }))
        .default([]),
    }),
  ),
});

/** The expectations of one unit test for one alert: seconds at which it fires, does not fire, and is pending. */
interface Scenario {
  readonly name: string;
  readonly stepSeconds: number;
  readonly firing: readonly number[];
  readonly silent: readonly number[];
  readonly pending: readonly number[];
}

function parseSeconds(duration: string): number {
  const ms = parseDuration(duration);
  assert.ok(ms !== undefined, duration);
  return ms / 1000;
}

const files = listDeployYaml('prometheus/tests').map((name) =>
  unitTestFile.parse(parse(readDeployFile(name))),
);

function listScenarios(alert: string): readonly Scenario[] {
  const pendingExpression = `count by (alertstate) (ALERTS{alertname="${alert}"})`;
  return files.flatMap(({ evaluation_interval: step, tests }) =>
    tests.flatMap(({ name, alert_rule_test: cases, promql_expr_test: expressions }) => {
      const own = cases.filter(({ alertname }) => alertname === alert);
      if (own.length === 0) return [];
      const at = (wanted: boolean) =>
        own
          .filter(({ exp_alerts: alerts }) => alerts.length > 0 === wanted)
          .map((one) => parseSeconds(one.eval_time));
      const pending = expressions
        .filter(
          ({ expr, exp_samples: samples }) =>
            expr === pendingExpression && /"pending/.test(JSON.stringify(samples)),
        )
        .map(({ eval_time: time }) => parseSeconds(time));
      return [{ name, stepSeconds: parseSeconds(step), firing: at(true), silent: at(false), pending }];
    }),
  );
}

for (const { alert, for: wait, keep_firing_for: keep } of readAlertRules()) {
  const scenarios = listScenarios(alert);

  // Ranges of Prometheus 3 exclude their start: an alert on a range may fire one step earlier than in Prometheus 2.
  test(`a test expects ${alert} to fire after ${wait}, and to be pending one or two steps earlier`, () => {
    const isExact = ({ firing, silent, pending, stepSeconds }: Scenario) =>
      [1, 2].some((steps) => {
        const before = Math.min(...firing) - steps * stepSeconds;
        return silent.includes(before) && pending.includes(before);
      });
    assert.ok(scenarios.some(isExact));
  });

  test(`a test has data for ${alert} and expects it not to fire`, () => {
    assert.ok(scenarios.some(({ firing, silent }) => firing.length === 0 && silent.length > 0));
  });

  if (keep !== undefined) {
    test(`a test expects ${alert} to stop firing after ${keep}, and to fire one or two steps earlier`, () => {
      const endsExactly = ({ firing, silent, stepSeconds }: Scenario) =>
        firing.length > 1 &&
        [1, 2].some((steps) => silent.includes(Math.max(...firing) + steps * stepSeconds));
      assert.ok(scenarios.some(endsExactly));
    });
  }
}

test('every recorded series is tested with two replicas', () => {
  const tested = new Set(
    files.flatMap(({ tests }) =>
      tests
        .filter(({ input_series: input }) => input.some(({ series }) => series.includes('instance="b:')))
        .flatMap(({ promql_expr_test: expressions }) =>
          expressions.flatMap(({ expr }) => [...listMetricNames(expr)]),
        ),
    ),
  );
  // The error ratios of the other ranges are tested through the alerts that use them.
  const viaOther = /^instance_service_code:xvs_exporter_poll_errors:ratio_rate(30m|1h|6h)$/;
  const untested = readRecordingRules()
    .map(({ record }) => record)
    .filter((record) => !viaOther.test(record) && !tested.has(record));
  assert.deepEqual(untested, []);
});
