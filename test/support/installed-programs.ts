import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { TestContext } from 'node:test';

/**
 * Whether a program is on this machine. One that is absent fails the test in CI; elsewhere the test says that it
 * was not run.
 */
export function isInstalled(t: TestContext, program: string): boolean {
  const { error } = spawnSync(program, ['--version']);
  if (error === undefined) return true;
  assert.notEqual(process.env['CI'], 'true', `Expected ${program} to run, found ${error.message}`);
  t.diagnostic(`NOT CHECKED: ${program} did not run (${error.message})`);
  return false;
}
