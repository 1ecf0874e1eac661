import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  listDeployYaml,
  readDeployFile,
  readRunbookQueries,
  readAlertRules,
  readRecordingRules,
} from '../../../support/deploy-files.ts';
import { listKnownSeries, findUnknownNames } from '../../../support/known-names.ts';
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

/** Alerts whose query compares, and stands in a unit test of their rule. */
const COMPARING = [
  'XvsExporterDown',
  'XvsServiceCodesDropped',
  'XvsTasksBelowExpected',
  'XvsIngestStalled',
  'XvsDeliveryBlackhole',
];

for (const alert of COMPARING) {
  test(`the query of ${alert} is run on a history in which it fires`, () => {
    const [query = ''] = readRunbookQueries(sections[headings.indexOf(alert)] ?? '');
    const histories = listDeployYaml('prometheus/tests').flatMap((name) =>
      readDeployFile(name).split('\n  - name:'),
    );
    assert.ok(
      histories.some(
        (history) =>
          history.includes(`expr: ${query}\n`) &&
          new RegExp(`alertname: ${alert}\n +eval_time: .*\n +exp_alerts:`).test(history),
      ),
      query,
    );
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
