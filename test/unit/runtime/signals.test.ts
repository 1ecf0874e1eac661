import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { abortOnSignals } from '../../../src/runtime/signals.ts';

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
