import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { listSettings } from '../../../src/config/settings.ts';
import { CATALOGUE } from '../../../src/metrics/catalogue/catalogue.ts';
import type { FamilySpec } from '../../../src/metrics/catalogue/family.ts';
import { readFixture } from '../../support/fixtures.ts';

/** The names of the last release, which later ones must keep: see CONTRIBUTING.md. */
const stable = z
  .strictObject({
    families: z.record(z.string(), z.strictObject({ type: z.string(), labels: z.array(z.string()) })),
    settings: z.array(z.string()),
  })
  .parse(JSON.parse(readFixture('stable-names.json').toString()));

const families: readonly FamilySpec[] = Object.values(CATALOGUE);

test('the list of stable names is not empty', () => {
  assert.ok(Object.keys(stable.families).length > 30);
  assert.ok(stable.settings.length > 25);
});

for (const [name, { type, labels }] of Object.entries(stable.families)) {
  test(`${name} is still a ${type} with the labels [${labels.join(', ')}]`, () => {
    const family = families.find((candidate) => candidate.name === name);
    assert.deepEqual([family?.type, family?.labels], [type, labels]);
  });
}

test('every stable setting still exists', () => {
  const known = new Set<string>(listSettings().map(([path]) => path));
  assert.deepEqual(
    stable.settings.filter((path) => !known.has(path)),
    [],
  );
});
