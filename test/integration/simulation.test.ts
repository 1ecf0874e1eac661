import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Simulation } from '../support/simulation/simulation.ts';

const LISTINGS = 2000;

for (const seed of [1, 2, 3])
  test(`counters equal the truth over ${LISTINGS} listings with faults, kills and lost writes, with seed ${seed}`, async () => {
    const report = await new Simulation(seed).run(({ listings }) => listings >= LISTINGS);
    assert.ok(report.kills > 10 && report.restarts > 5 && report.failedPolls > 10, JSON.stringify(report));
  });
