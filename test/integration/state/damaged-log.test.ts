import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readInstant } from '../../../src/runtime/instant.ts';
import { StateStore } from '../../../src/state/state-store.ts';
import type { Tally } from '../../../src/tally/tally.ts';
import { createDefaultTally } from '../../support/default-tally.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { buildTaskRecord } from '../../support/record-builders.ts';
import { RecordListing } from '../../support/record-listing.ts';
import { createRecordingLogger } from '../../support/recording-logger.ts';
import { START_MS } from '../../support/tally-run.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

const LISTINGS = 60;
const TASKS = 10;
const DAMAGES = 60;

async function openStore(path: string, clock: ManualClock) {
  const { logger, lines } = createRecordingLogger();
  const codes = { createTally: createDefaultTally, codesOnOtherShards: new Set<string>() };
  const store = await StateStore.open({ path, clock, logger }, codes);
  return { store, hasWarned: () => lines.some(({ level }) => level === 'warn') };
}

function readRecords(tally: Tally): object {
  const records = [...(tally.records?.listAll() ?? [])];
  return Object.fromEntries(records.map(([key, value]): [string, unknown] => [key, JSON.parse(value)]));
}

/** Persists listings in which a task leaves and another comes each time. Returns the records after each. */
async function writeListings(path: string, clock: ManualClock): Promise<readonly object[]> {
  const tally = createDefaultTally('A');
  const written: object[] = [{}];
  const { store } = await openStore(path, clock);
  for (let number = 1; number <= LISTINGS; number += 1) {
    clock.advance(15_000);
    const listing = new RecordListing();
    for (let task = number; task < number + TASKS; task += 1)
      listing.addTask(buildTaskRecord({ id: `task-${task}`, inputBytes: 1000 * number }));
    const at = readInstant(clock);
    await store.write('A', tally.commit(listing.listing, at).records);
    written.push(readRecords(tally));
  }
  return written;
}

test('with a wrong bit in the log of LevelDB, a code has a state that was written, or starts at 0 with a warning', async () => {
  using folder = new TemporaryFolder();
  const clock = new ManualClock(START_MS);
  const written = await writeListings(folder.at('killed'), clock);
  const name = readdirSync(folder.at('killed/database')).find((file) => file.endsWith('.log')) ?? '';
  const log = readFileSync(folder.at(`killed/database/${name}`));
  const outcomes = new Set<string>();
  for (let damage = 0; damage < DAMAGES; damage += 1) {
    const path = folder.at('damaged');
    rmSync(path, { recursive: true, force: true });
    cpSync(folder.at('killed'), path, { recursive: true });
    const index = Math.floor((log.length * damage) / DAMAGES);
    const damaged = Buffer.from(log);
    damaged[index] = (log[index] ?? 0) ^ 1;
    writeFileSync(join(path, 'database', name), damaged);
    const { store, hasWarned } = await openStore(path, clock);
    const tally = store.tallies.get('A');
    if (tally !== undefined)
      assert.deepEqual(readRecords(tally), written[tally.listings], `at ${index} of ${log.length}`);
    assert.equal(hasWarned(), tally === undefined, `at ${index} of ${log.length}`);
    outcomes.add(tally === undefined ? 'warned' : tally.listings < LISTINGS ? 'earlier' : 'last');
    await store[Symbol.asyncDispose]();
  }
  assert.deepEqual([...outcomes].toSorted(), ['earlier', 'last', 'warned']);
});
