import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plant, PLANTED_FAULTS } from '../support/loss-nights/faults.ts';
import { checkNight } from '../support/loss-nights/oracle.ts';
import { runNight } from '../support/loss-nights/run.ts';
import { imagineLosses } from '../support/loss-nights/script.ts';
import { formatViolations } from '../support/loss-nights/violations.ts';

const seeds = [
  ...new Set([
    ...Array.from({ length: 20 }, (_, night) => night + 1),
    ...PLANTED_FAULTS.map(({ seed }) => seed),
  ]),
];

for (const seed of seeds)
  test(`the random night ${seed} is told as it is, and finds each fault that is planted in it`, () => {
    const night = imagineLosses(seed);
    const sound = runNight(night);
    const violations = checkNight(night, sound);
    assert.deepEqual(violations, [], formatViolations(night, violations));
    const notFound = PLANTED_FAULTS.filter((fault) => fault.seed === seed).filter(
      (fault) => checkNight(night, plant(fault, night, sound)).length === 0,
    );
    assert.deepEqual(notFound, []);
  });

test('each planted fault is found within 200 nights', () => {
  assert.deepEqual(
    PLANTED_FAULTS.filter(({ seed }) => seed < 1 || seed > 200),
    [],
  );
});
