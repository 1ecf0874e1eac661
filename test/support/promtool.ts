import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { TestContext } from 'node:test';

/**
 * Holds an exposition in text 0.0.4 to `promtool check metrics`, which must have no complaint.
 * Without promtool it fails in CI and says so elsewhere.
 */
export function assertPromtoolAccepts(t: TestContext, text: string): void {
  const run = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  if (run.error !== undefined) {
    assert.notEqual(process.env['CI'], 'true', `Expected promtool to run, found ${run.error.message}`);
    t.diagnostic(`NOT CHECKED: promtool did not run (${run.error.message})`);
    return;
  }
  const complaints = (run.stdout + run.stderr).split('\n').filter((line) => line !== '');
  assert.deepEqual(complaints, []);
}
