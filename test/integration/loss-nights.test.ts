import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plant, PLANTED_FAULTS } from '../support/loss-nights/faults.ts';
import { checkNight } from '../support/loss-nights/oracle.ts';
import { formatViolations } from '../support/loss-nights/report.ts';
import { runNight } from '../support/loss-nights/run.ts';
import { imagineLosses } from '../support/loss-nights/script.ts';

for (let seed = 1; seed <= 20; seed += 1)
  test(`losses are told as they are in the random night ${seed}`, () => {
    const night = imagineLosses(seed);
    const violations = checkNight(night, runNight(night));
    assert.deepEqual(violations, [], formatViolations(night, violations));
  });

for (const fault of PLANTED_FAULTS)
  test(`the random night ${fault.seed} finds that ${fault.name}`, () => {
    const night = imagineLosses(fault.seed);
    const memories = runNight(night);
    assert.deepEqual(checkNight(night, memories), []);
    assert.notDeepEqual(checkNight(night, plant(fault, night, memories)), []);
  });
