import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureHeapBytes } from '../support/heap.ts';
import { Simulation } from '../support/simulation/simulation.ts';

const YEARS = 0.05;

for (const seed of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  test(`counters equal the truth over ${YEARS} years with faults, kills and lost writes, with seed ${seed}`, async () => {
    const report = await new Simulation(seed).run(({ years }) => years >= YEARS);
    assert.ok(report.listings > 10_000 && report.kills > 200, JSON.stringify(report));
  });

test('memory stays level over weeks of polls, kills and restarts', async () => {
  const heapBytes: number[] = [];
  await new Simulation(1).run(({ years }) => {
    if (years >= (heapBytes.length + 1) * 0.01) heapBytes.push(measureHeapBytes());
    return heapBytes.length === 5;
  });
  const [, second = 0, , , fifth = Infinity] = heapBytes;
  assert.ok(fifth - second < 4 * 1024 ** 2, `found ${heapBytes.join(', ')} bytes`);
});
