import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import { deployedYaml, deployPath, shippedAlerts, shippedSeries } from '../support/deployed.ts';
import { knownSeries } from '../support/known-series.ts';

const FILES = [
  '../README.md',
  '../docs/counters.md',
  'prometheus/README.md',
  'prometheus/runbook.md',
  'prometheus/prometheus.yml',
  'alertmanager/README.md',
  'alertmanager/alertmanager.yml',
  ...deployedYaml('prometheus/rules'),
  ...deployedYaml('prometheus/tests'),
];

/** A name of a series of the exporter or of a recorded one, as a whole word of a text. */
const SERIES = /(?<![\w:.-])(?:(?:xvs|process|nodejs)_\w+|[a-z_]+:\w+:\w+)(?![\w:]|\*)/g;
const ALERT = /(?<![\w-])Xvs[A-Z]\w+/g;

const alerts = new Set(shippedAlerts().map(({ alert }) => alert));
const recorded = shippedSeries().map(({ record }) => record);
const families = Object.values(CATALOGUE).map(({ name }): string => name);
const known = new Set([...(await knownSeries()).keys(), ...families, ...recorded]);

for (const file of FILES) {
  const text = readFileSync(deployPath(file), 'utf8');

  test(`every metric that ${file} names exists`, () => {
    assert.deepEqual(
      (text.match(SERIES) ?? []).filter((name) => !known.has(name)),
      [],
    );
  });

  test(`every alert that ${file} names exists`, () => {
    assert.deepEqual(
      (text.match(ALERT) ?? []).filter((name) => !alerts.has(name)),
      [],
    );
  });
}
