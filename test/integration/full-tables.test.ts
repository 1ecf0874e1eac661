import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OTHER } from '../../src/listing/label-values.ts';
import type { Snapshot } from '../../src/tally/snapshot.ts';
import { Random } from '../support/random.ts';
import { buildTaskRecord } from '../support/record-builders.ts';
import { readValues, STEP_MS, TallyRun } from '../support/tally-run.ts';

const WORLDS = 200;
const STEPS = 40;
const MINUTE_MS = 60_000;
const GAPS_MS = [STEP_MS, STEP_MS, STEP_MS, 20 * MINUTE_MS, 61 * MINUTE_MS, 180 * MINUTE_MS];
const SERVERS = ['s1', 's2', 's3', 's4', 's5', 's6'];

/** The server of each task of a listing. */
type Placement = ReadonlyMap<string, string>;

/** Some tasks end, start or move, more of them the longer the time. */
function createPlacement(random: Random, before: Placement, gapMs: number): Placement {
  const change = gapMs > MINUTE_MS ? 0.8 : 0.1;
  const servers = random.shuffle(SERVERS).slice(0, 2 + random.integer(2));
  const placement = new Map<string, string>();
  for (let task = 0; task < 8; task += 1) {
    const id = `task-${task}`;
    const server = before.get(id);
    if (!random.chance(change)) {
      if (server !== undefined) placement.set(id, server);
    } else if (random.chance(0.7)) placement.set(id, random.pick(servers));
  }
  return placement;
}

/** Counts the tasks by server that one listing has and another has not, there. */
function countMissing(has: Placement, hasNot: Placement): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [id, server] of has)
    if (hasNot.get(id) !== server) counts.set(server, (counts.get(server) ?? 0) + 1);
  return counts;
}

/** What a listing has added to a counter of each server that is told apart, and to the one of all others. */
function readIncreases(
  before: Snapshot,
  after: Snapshot,
  family: 'tasksStarted' | 'tasksEnded',
): ReadonlyMap<string, number> {
  const totals = readValues(before, family);
  const increases = new Map<string, number>();
  for (const [server, total] of Object.entries(readValues(after, family)))
    increases.set(server, total - (totals[server] ?? 0));
  return increases;
}

test(`in ${WORLDS} worlds with full tables and outages of hours, each start and end counts for its server`, () => {
  let evictions = 0;
  for (let seed = 1; seed <= WORLDS; seed += 1) {
    const random = new Random(seed);
    const run = new TallyRun({ maxLabelSets: 1 + random.integer(3) });
    const commit = (placement: Placement, gapMs: number): Snapshot => {
      const tasks = [...placement].map(([id, vsId]) => buildTaskRecord({ id, vsId }));
      return run.commitListing({ tasks }, gapMs);
    };
    let placement = createPlacement(random, new Map(), STEP_MS);
    let snapshot = commit(placement, STEP_MS);
    for (let step = 0; step < STEPS; step += 1) {
      const gapMs = random.pick(GAPS_MS);
      if (random.chance(0.1)) run.restart({}, 1);
      const next = createPlacement(random, placement, gapMs);
      const after = commit(next, gapMs);
      for (const [family, counts] of [
        ['tasksStarted', countMissing(next, placement)],
        ['tasksEnded', countMissing(placement, next)],
      ] as const) {
        const increases = readIncreases(snapshot, after, family);
        const expected = new Map([...increases.keys()].map((server) => [server, counts.get(server) ?? 0]));
        for (const [server, count] of counts)
          if (!increases.has(server)) expected.set(OTHER, (expected.get(OTHER) ?? 0) + count);
        assert.deepEqual(increases, expected, `seed ${seed}, step ${step}, ${family}`);
      }
      const servers = new Set(Object.keys(readValues(after, 'tasksEnded')));
      for (const server of Object.keys(readValues(snapshot, 'tasksEnded')))
        if (!servers.has(server)) evictions += 1;
      [placement, snapshot] = [next, after];
    }
  }
  assert.ok(evictions > WORLDS, `${evictions} evictions`);
});
