import type { TestContext } from 'node:test';

/** Tells whether this is Linux, which has what a test needs. Elsewhere, it prints `NOT CHECKED`. */
export function isLinux(t: TestContext, needs: '127.0.0.2' | '/proc' | '/dev/full'): boolean {
  if (process.platform === 'linux') return true;
  t.diagnostic(`NOT CHECKED: ${needs} is of Linux`);
  return false;
}
