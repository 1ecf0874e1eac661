import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { hearReloads } from '../src/reload-requests.ts';

/** How often a listener was called that came after so many signals, and after so many more. */
const CASES: readonly (readonly [before: number, after: number, calls: number])[] = [
  [0, 0, 0],
  [0, 2, 2],
  [1, 0, 1],
  [3, 0, 1],
  [3, 2, 3],
];

for (const [before, after, calls] of CASES) {
  test(`who comes after ${before} SIGHUPs, with ${after} to follow, is called ${calls} times`, () => {
    const signals = new EventEmitter();
    const onReload = hearReloads(signals);
    for (let count = 0; count < before; count += 1) signals.emit('SIGHUP');
    let called = 0;
    onReload(() => (called += 1));
    for (let count = 0; count < after; count += 1) signals.emit('SIGHUP');
    assert.equal(called, calls);
  });
}
