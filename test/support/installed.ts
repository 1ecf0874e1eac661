import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { TestContext } from 'node:test';

/** Whether a program can be run here. Without it the test fails in CI; elsewhere it says that it did not check. */
export function isInstalled(t: TestContext, command: string): boolean {
  if (spawnSync(command, ['--version'], { stdio: 'ignore' }).error === undefined) return true;
  assert.notEqual(process.env['CI'], 'true', `Expected ${command} to be installed, found no such program`);
  t.diagnostic(`NOT CHECKED: ${command} is not installed`);
  return false;
}
