import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Simulation } from '../support/simulation/simulation.ts';

const YEARS = 0.05;

for (const seed of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  test(`counters equal the truth over ${YEARS} years with faults, kills and lost writes, with seed ${seed}`, async () => {
    const report = await new Simulation(seed).run(({ years }) => years >= YEARS);
    assert.ok(report.listings > 10_000 && report.kills > 200, JSON.stringify(report));
  });
