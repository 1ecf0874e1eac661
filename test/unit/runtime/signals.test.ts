import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { abortOnSignals, listenForReloadSignal } from '../../../src/runtime/signals.ts';

/** Calls of a listener that is set after some SIGHUPs and before others. */
const CASES: readonly (readonly [before: number, after: number, calls: number])[] = [
  [0, 0, 0],
  [0, 2, 2],
  [1, 0, 1],
  [3, 0, 1],
  [3, 2, 3],
];

for (const [before, after, calls] of CASES) {
  test(`a listener set after ${before} SIGHUPs and before ${after} is called ${calls} times`, () => {
    const signals = new EventEmitter();
    const onReload = listenForReloadSignal(signals);
    for (let count = 0; count < before; count += 1) signals.emit('SIGHUP');
    let called = 0;
    onReload(() => (called += 1));
    for (let count = 0; count < after; count += 1) signals.emit('SIGHUP');
    assert.equal(called, calls);
  });
}

for (const name of ['SIGINT', 'SIGTERM'] as const) {
  test(`${name} aborts the signal, and afterwards both signals have their default effect`, () => {
    const signals = new EventEmitter();
    const signal = abortOnSignals(signals);
    assert.equal(signal.aborted, false);
    signals.emit(name);
    assert.equal(signal.aborted, true);
    assert.deepEqual([signals.listenerCount('SIGINT'), signals.listenerCount('SIGTERM')], [0, 0]);
  });
}
