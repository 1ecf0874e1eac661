import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import {
  listDeployYaml,
  readDeployFile,
  readRunbookQueries,
  readAlertRules,
  readRecordingRules,
} from '../../../support/deploy-files.ts';
import { listKnownSeries, findUnknownNames } from '../../../support/known-names.ts';
import { listMetricNames } from '../../../support/promql.ts';
import { renderListPage } from '../../../../src/web/status-page/list-page.ts';
import { renderServiceCodePage } from '../../../../src/web/status-page/service-code-page.ts';
import { createEmptyFacade } from '../../../unit/web/fake-facade.ts';
import {
  createBreakdown,
  createDownStatus,
  createHistory,
  createPolling,
  createStatus,
  createTotals,
} from '../../../unit/web/status-page/status-fixtures.ts';

/** "Look" where a page shows more, and "Meaning" where the description of the alert does not say all. */
const PARTS = ['Look', 'Meaning', 'Causes', 'Remedy'];
const REQUIRED = new Set(['Causes', 'Remedy']);

const runbook = readDeployFile('prometheus/runbook.md');
const [introduction = '', ...sections] = runbook.split(/^## /m);
const headings = sections.map((section) => section.slice(0, section.indexOf('\n')));

test('the runbook has a heading for every alert, and no other', () => {
  assert.deepEqual(headings.toSorted(), [...new Set(readAlertRules().map(({ alert }) => alert))].toSorted());
});

for (const [index, section] of sections.entries()) {
  test(`${headings[index]} has a query, causes and a remedy`, () => {
    const parts = new Set([...section.matchAll(/^\*\*(.*):\*\*/gm)].map(([, part = '']) => part));
    assert.deepEqual(
      [...parts],
      PARTS.filter((part) => REQUIRED.has(part) || parts.has(part)),
    );
    assert.equal(readRunbookQueries(section).length, 1);
  });
}

test('what a section says to look at is a heading, a column or a mark of the pages', () => {
  const rejected = { count: 2, first: undefined };
  const problems = { stalledTasks: 2, tasksWithoutInput: 1, rejected, tasksWithoutAccount: 1 };
  const totals = createTotals({ ...problems, byteCountsWaiting: 1 });
  const expected = { name: 'main', condition: 'missing', sinceMs: undefined, outputs: undefined } as const;
  const up = createStatus('A', {
    totals,
    expectedTasks: [expected],
    expectedTaskCount: 1,
    history: createHistory({}),
  });
  const facade = createEmptyFacade({
    getStatuses: () => [up, createDownStatus('B'), createStatus('C', { condition: 'lost' })],
    getStatus: () => up,
    getPolling: () => createPolling(),
    getBreakdown: () => ({
      ...createBreakdown(String),
      longestWithoutInput: createBreakdown(String).longestStalled,
    }),
  });
  const pages =
    renderListPage(facade, new URLSearchParams()) +
    renderServiceCodePage(facade, new URLSearchParams({ service_code: 'A' }));
  const texts = new Set(pages.split(/<[^>]*>/).map((text) => text.trim().replace(/^\d+ /, '')));
  const named = [...runbook.matchAll(/^\*\*Look:\*\* ([^]*?)\n\n/gm)].flatMap(([, look = '']) =>
    [...look.matchAll(/(?<!\w)_([^_`]+)_/g)].map(([, name = '']) => name.replaceAll('\n', ' ')),
  );
  assert.ok(new Set(named).size > 10);
  assert.deepEqual(
    named.filter((name) => !texts.has(name)),
    [],
  );
});

const historySchema = z.looseObject({
  alert_rule_test: z
    .array(
      z.looseObject({
        alertname: z.string(),
        eval_time: z.string(),
        exp_alerts: z.array(z.unknown()).default([]),
      }),
    )
    .default([]),
  promql_expr_test: z
    .array(
      z.looseObject({
        expr: z.string(),
        eval_time: z.string(),
        exp_samples: z.array(z.unknown()).default([]),
      }),
    )
    .default([]),
});
const histories = listDeployYaml('prometheus/tests').flatMap(
  (name) => z.looseObject({ tests: z.array(historySchema) }).parse(parse(readDeployFile(name))).tests,
);
const recordedExpressions = new Map(readRecordingRules().map(({ record, expr }) => [record, expr]));

/**
 * Lists the minutes at which a history shows an alert firing, and the result of a query that is not empty.
 */
function listMinutes(
  { alert_rule_test: alerts, promql_expr_test: results }: z.infer<typeof historySchema>,
  alert: string,
  query: string,
): readonly number[] {
  const samples = results.filter(({ exp_samples: expected }) => expected.length > 0);
  const firing = new Set(
    [
      ...alerts.filter(({ alertname, exp_alerts: expected }) => alertname === alert && expected.length > 0),
      ...samples.filter(({ expr }) => expr.includes(`ALERTS{alertname="${alert}", alertstate="firing"})`)),
    ].map(({ eval_time: time }) => time),
  );
  return samples
    .filter(({ expr }) => expr === query.replaceAll('CODE', 'A'))
    .filter(({ eval_time: time }) => firing.has(time))
    .map(({ eval_time: time }) => parseMinutes(time));
}

function parseMinutes(time: string): number {
  const [, hours = '0', minutes = '0', seconds = '0'] =
    /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(time) ?? [];
  return 60 * Number(hours) + Number(minutes) + Number(seconds) / 60;
}

/** Tells whether a rule, or a recorded series that it reads, looks back for an hour. */
function looksBackForAnHour(expr: string): boolean {
  return [expr, ...[...listMetricNames(expr)].map((name) => recordedExpressions.get(name) ?? '')].some(
    (text) => text.includes('[1h]'),
  );
}

// A selector of one exposed series shows what it has. All other queries say something on the data, which can
// be wrong.
for (const [index, alert] of headings.entries()) {
  const [query = ''] = readRunbookQueries(sections[index] ?? '');
  if (/^\w+(\{[^}]*\})?$/.test(query)) continue;
  const late = readAlertRules().some((rule) => rule.alert === alert && looksBackForAnHour(rule.expr));
  test(`the query of ${alert} is run while it fires${late ? ', early and half an hour later' : ''}`, () => {
    const spans = histories.map((history) => {
      const minutes = listMinutes(history, alert, query);
      return Math.max(...minutes) - Math.min(...minutes);
    });
    assert.ok(Math.max(...spans) >= (late ? 30 : 0), query);
  });
}

test('every query parses, and its metrics and labels exist', async () => {
  const ofAnInstallation = new Set(['job', 'instance', 'service_code', 'vs_id', 'format']);
  const known = new Map([
    ...(await listKnownSeries()),
    ...readRecordingRules().map(({ record }): [string, ReadonlySet<string>] => [record, ofAnInstallation]),
    ['ALERTS', new Set(['alertname', 'alertstate'])] as const,
  ]);
  assert.ok(readRunbookQueries(introduction).length > 0);
  assert.deepEqual(
    readRunbookQueries().flatMap((query) => findUnknownNames(query, known)),
    [],
  );
});

test('every heading has an anchor of the same case, and every reference a target', () => {
  const anchors = new Set([...runbook.matchAll(/^<a id="(Xvs\w+)"><\/a>$\n\n## \1$/gm)].map(([, id]) => id));
  assert.deepEqual([...anchors], headings);
  const references = [...runbook.matchAll(/\]\(#([^)]*)\)/g)].map((match) => match[1] ?? '');
  assert.ok(references.length > 0);
  assert.deepEqual(
    references.filter((reference) => !anchors.has(reference)),
    [],
  );
});
