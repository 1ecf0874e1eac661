import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkNight } from '../support/loss-nights/oracle.ts';
import { runNight } from '../support/loss-nights/run.ts';
import { imagineLosses } from '../support/loss-nights/script.ts';
import { formatViolations } from '../support/loss-nights/violations.ts';

/** As many as two to three minutes hold. */
const NIGHTS = 500;

test(`losses are told as they are in ${NIGHTS} random nights`, () => {
  for (let seed = 1; seed <= NIGHTS; seed += 1) {
    const night = imagineLosses(seed);
    const violations = checkNight(night, runNight(night));
    assert.deepEqual(violations, [], formatViolations(night, violations));
  }
});
