import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import { deployPath, readAlertRules, readRecordingRules } from '../../support/deploy-files.ts';
import { listKnownSeries } from '../../support/known-names.ts';

/** All text files under `deploy`, and the documents that name many metrics. */
const FILES = [
  '../README.md',
  '../docs/counters.md',
  ...readdirSync(deployPath(''), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(md|ya?ml|json|ts|tpl)$/.test(name))
    .toSorted(),
];

/** The name of a series of the exporter or of a recording rule, as a whole word. */
const SERIES = /(?<![\w:.-])(?:(?:xvs|process|nodejs)_\w+|[a-z_]+:\w+:\w+)(?![\w:]|\*)/g;
const ALERT = /(?<![\w-])Xvs[A-Z]\w+/g;

const alerts = new Set(readAlertRules().map(({ alert }) => alert));
const recorded = readRecordingRules().map(({ record }) => record);
const families = Object.values(CATALOGUE).map(({ name }): string => name);
const known = new Set([...(await listKnownSeries()).keys(), ...families, ...recorded]);

/** Returns the distinct matches of a pattern that are not among the names. */
function findUnknown(text: string, pattern: RegExp, names: ReadonlySet<string>): readonly string[] {
  return [...new Set(text.match(pattern))].filter((name) => !names.has(name));
}

for (const file of FILES) {
  const text = readFileSync(deployPath(file), 'utf8');

  test(`${file} names existing metrics and alerts only`, () => {
    assert.deepEqual(findUnknown(text, SERIES, known), []);
    assert.deepEqual(findUnknown(text, ALERT, alerts), []);
  });
}
