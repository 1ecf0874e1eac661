import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { TestContext } from 'node:test';
import { isInstalled } from './installed.ts';

/**
 * Holds an exposition in text 0.0.4 to `promtool check metrics`, which must have no complaint.
 * Without promtool it fails in CI and says so elsewhere.
 */
export function assertPromtoolAccepts(t: TestContext, text: string): void {
  if (!isInstalled(t, 'promtool')) return;
  const run = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  const complaints = (run.stdout + run.stderr).split('\n').filter((line) => line !== '');
  assert.deepEqual(complaints, []);
}
