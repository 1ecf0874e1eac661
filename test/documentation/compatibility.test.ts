import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { listSettings } from '../../src/config/settings.ts';
import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import type { FamilySpec } from '../../src/metrics/family.ts';
import { readFixture } from '../support/fixtures.ts';

/** What the last release had, by which the next ones are bound: see docs/compatibility.md. */
const promised = z
  .strictObject({
    families: z.record(z.string(), z.strictObject({ type: z.string(), labels: z.array(z.string()) })),
    settings: z.array(z.string()),
  })
  .parse(JSON.parse(readFixture('promised.json').toString()));

const families: readonly FamilySpec[] = Object.values(CATALOGUE);

test('there are promises', () => {
  assert.ok(Object.keys(promised.families).length > 30);
  assert.ok(promised.settings.length > 25);
});

for (const [name, { type, labels }] of Object.entries(promised.families)) {
  test(`${name} is still a ${type} with the labels [${labels.join(', ')}]`, () => {
    const family = families.find((candidate) => candidate.name === name);
    assert.deepEqual([family?.type, family?.labels], [type, labels]);
  });
}

test('every setting that was promised is still one', () => {
  const known = new Set<string>(listSettings().map(([path]) => path));
  assert.deepEqual(
    promised.settings.filter((path) => !known.has(path)),
    [],
  );
});
