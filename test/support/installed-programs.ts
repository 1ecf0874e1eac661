import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { TestContext } from 'node:test';
import { repositoryPath } from './repository.ts';

/**
 * The ends of the supported range of Prometheus: Debian's, and the one that `.ci/install-programs` builds.
 */
export const PROMETHEUS_VERSIONS = [
  { version: 'oldest', prometheus: 'prometheus', promtool: 'promtool' },
  {
    version: 'newest',
    prometheus: repositoryPath('.cache/programs/prometheus/prometheus'),
    promtool: repositoryPath('.cache/programs/prometheus/promtool'),
  },
] as const;

/** The newest supported Prometheus. */
export const { prometheus: NEWEST_PROMETHEUS, promtool: NEWEST_PROMTOOL } = PROMETHEUS_VERSIONS[1];

/**
 * Tells whether a program is installed. If it is missing, the test fails in CI; elsewhere, it prints `NOT
 * CHECKED`.
 */
export function isInstalled(t: TestContext, program: string): boolean {
  const folders = isAbsolute(program) ? [''] : (process.env['PATH'] ?? '').split(delimiter);
  if (folders.some((folder) => isExecutable(join(folder, program)))) return true;
  assert.notEqual(process.env['CI'], 'true', `Expected ${program} on the PATH, found none`);
  t.diagnostic(`NOT CHECKED: ${program} is not installed`);
  return false;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Asserts that `promtool check metrics` accepts an exposition in text format 0.0.4. */
export function assertPromtoolAccepts(t: TestContext, text: string): void {
  if (!isInstalled(t, 'promtool')) return;
  const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  const complaints = (stdout + stderr).split('\n').filter((line) => line !== '');
  assert.deepEqual(complaints, []);
}
