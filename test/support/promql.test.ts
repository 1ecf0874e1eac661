import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listKnownSeries, findUnknownNames } from './known-names.ts';
import { listMetricNames, replaceDurations, parseSelectors } from './promql.ts';

const metricNameCases: readonly (readonly [string, readonly string[]])[] = [
  ['up', ['up']],
  ['sum by (vs_id) (rate(xvs_input_bytes_total{vs_id!=""}[5m] offset 1h))', ['xvs_input_bytes_total']],
  ['a:b:sum > 2 * scalar(c) and on (service_code) d', ['a:b:sum', 'c', 'd']],
  ['{__name__=~"a|b"} or {__name__="c", x="y"}', ['a', 'b', 'c']],
  ['{"d", x="y"}', ['d']],
  ['max_over_time(sum(a)[1h:30s]) > time() - 300', ['a']],
  ['vector(1)', []],
];

for (const [expression, names] of metricNameCases) {
  test(`the metrics of ${expression}`, () => {
    assert.deepEqual([...listMetricNames(expression)], names);
  });
}

for (const expression of [
  '',
  'a >',
  'a{',
  'rate(a[5m]',
  'nosuchfunction(a)',
  '{x="y"}',
  '{__name__=~"a.*"}',
]) {
  test(`${JSON.stringify(expression)} is rejected`, () => {
    assert.throws(() => listMetricNames(expression), SyntaxError);
  });
}

test('a selector has the labels of its matchers', () => {
  assert.deepEqual(parseSelectors('a{b="c", d!~"e"} + f'), [
    { metric: 'a', labels: ['b', 'd'] },
    { metric: 'f', labels: [] },
  ]);
});

test('durations of ranges, subqueries and offsets are replaced, numbers are not', () => {
  assert.equal(
    replaceDurations(
      'rate(a[5m] offset 1h) > 300 and max_over_time(b[6h:1m])',
      (duration) => `<${duration}>`,
    ),
    'rate(a[<5m>] offset <1h>) > 300 and max_over_time(b[<6h>:<1m>])',
  );
});

test('metrics and labels that do not exist are reported', async () => {
  const known = await listKnownSeries();
  assert.deepEqual(
    findUnknownNames('up{job="a"} == xvs_tasks{vs_id="b"} - nodejs_eventloop_lag_p99_seconds', known),
    [],
  );
  assert.deepEqual(findUnknownNames('xvs_poll_duration_seconds', known), [
    'no metric xvs_poll_duration_seconds',
  ]);
  assert.deepEqual(findUnknownNames('rate(xvs_exporter_poll_duration_seconds[5m])', known), [
    'no metric xvs_exporter_poll_duration_seconds',
  ]);
  assert.deepEqual(findUnknownNames('xvs_up{vs_id="a"}', known), ['no label vs_id on xvs_up']);
});
