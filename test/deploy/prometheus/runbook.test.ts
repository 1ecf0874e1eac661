import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { deployedText, runbookQueries, shippedAlerts, shippedSeries } from '../../support/deployed.ts';
import { isInstalled } from '../../support/installed.ts';
import { knownSeries, strangersIn } from '../../support/known-series.ts';

const PARTS = ['Meaning', 'Impact', 'Diagnosis', 'Mitigation', 'False alarms'];

const runbook = deployedText('prometheus/runbook.md');
const [introduction = '', ...sections] = runbook.split(/^## /m);
const headings = sections.map((section) => section.slice(0, section.indexOf('\n')));

test('the runbook has a heading for every alert, and no other', () => {
  assert.deepEqual(
    headings.toSorted(),
    shippedAlerts()
      .map(({ alert }) => alert)
      .toSorted(),
  );
});

for (const [index, section] of sections.entries()) {
  test(`${headings[index]} has its five parts, and a query in its diagnosis`, () => {
    const parts = [...section.matchAll(/^\*\*(.*)\.\*\*/gm)].map((match) => match[1]);
    assert.deepEqual(parts, PARTS);
    const [, diagnosis = ''] = section.split(/^\*\*(?:Diagnosis|Mitigation)\.\*\*/m);
    assert.ok(runbookQueries(diagnosis).length > 0);
    assert.equal(runbookQueries(section).length, runbookQueries(diagnosis).length);
  });
}

test('every query parses, and its metrics and labels exist', async () => {
  const ofAnInstallation = new Set(['job', 'instance', 'service_code', 'vs_id', 'format']);
  const known = new Map([
    ...(await knownSeries()),
    ...shippedSeries().map(({ record }): [string, ReadonlySet<string>] => [record, ofAnInstallation]),
    ['ALERTS', new Set(['alertname', 'alertstate'])] as const,
  ]);
  assert.ok(runbookQueries(introduction).length > 0);
  assert.deepEqual(
    runbookQueries().flatMap((query) => strangersIn(query, known)),
    [],
  );
});

test('the oldest Prometheus that the rules run on takes every query', (t) => {
  if (!isInstalled(t, 'promtool')) return;
  const folder = mkdtempSync(join(tmpdir(), 'xvs-runbook-'));
  const path = join(folder, 'queries.yml');
  const rules = runbookQueries().map((expr, index) => ({ record: `query_${index}`, expr }));
  writeFileSync(path, JSON.stringify({ groups: [{ name: 'runbook', rules }] }));
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', path], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  assert.equal(status, 0, stdout + stderr);
});

test('every reference to a heading finds one', () => {
  const anchors = new Set(headings.map((heading) => heading.toLowerCase()));
  const references = [...runbook.matchAll(/\]\(#([^)]*)\)/g)].map((match) => match[1] ?? '');
  assert.ok(references.length > 0);
  assert.deepEqual(
    references.filter((reference) => !anchors.has(reference)),
    [],
  );
});
