import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { evaluateAt, integrateUntil } from '../../../src/simulator/step-function.ts';
import { measureFrozenMs } from '../../../src/simulator/freeze.ts';

const stepFunctions = fc.record({
  stepMs: fc.integer({ min: 1, max: 20 }),
  levels: fc.array(fc.nat(9), { minLength: 1, maxLength: 8 }),
});

test('the sum of a flow is the sum of its levels, millisecond by millisecond', () => {
  fc.assert(
    fc.property(stepFunctions, fc.nat(500), (flow, ageMs) => {
      let sum = 0;
      for (let at = 0; at < ageMs; at += 1) sum += evaluateAt(flow, at);
      assert.equal(integrateUntil(flow, ageMs), sum);
    }),
  );
});

test('overlapping freezes count every millisecond once', () => {
  const freezes = fc.array(fc.record({ fromMs: fc.nat(99), lengthMs: fc.nat(30) }), { maxLength: 5 });
  fc.assert(
    fc.property(freezes, fc.nat(50), fc.nat(50), (drawn, fromMs, lengthMs) => {
      const sorted = drawn
        .map((freeze) => ({ fromMs: freeze.fromMs, toMs: freeze.fromMs + freeze.lengthMs }))
        .toSorted((one, other) => one.fromMs - other.fromMs);
      const toMs = fromMs + lengthMs;
      let expected = 0;
      for (let at = fromMs; at < toMs; at += 1) {
        if (sorted.some((freeze) => freeze.fromMs <= at && at < freeze.toMs)) expected += 1;
      }
      assert.equal(
        measureFrozenMs(sorted, { serviceCode: 'A', taskId: '1', name: 'main' }, fromMs, toMs),
        expected,
      );
    }),
  );
});
