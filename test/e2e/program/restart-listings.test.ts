import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { openLevelDatabase } from '../../../src/state/level-database.ts';
import type { Instant } from '../../../src/tally/instant.ts';
import { CODE_KEY } from '../../../src/tally/tally-state.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { RunningExporter, startWithState } from './running-exporter.ts';

/** The lifetime value of a task. */
const S = 2e9;
const HOUR_MS = 3_600_000;

const listTasks = (bytes: number, vsId = 'v1', count = 10): readonly object[] =>
  Array.from({ length: count }, (_, number) => ({ id: `t${number}`, vs_id: vsId, input_bytes: bytes }));

/** Listings after a restart, and the bytes that are counted then; 10,000 are counted before. */
const CASES: readonly (readonly [
  name: string,
  signal: 'SIGKILL' | 'SIGTERM',
  /** How far the wall clock of the second process is ahead of that of the first one. */
  clockStepMs: number,
  listings: readonly (readonly object[])[],
  expectedBytes: number,
])[] = [
  ['a kill and a listing of half', 'SIGKILL', 0, [listTasks(S + 2000, 'v1', 5), listTasks(S + 2000)], 20_000],
  ['a kill and an empty listing', 'SIGKILL', 0, [[], listTasks(S + 2000)], 20_000],
  ['a kill and a move of all', 'SIGKILL', 0, [listTasks(S + 2000, 'v2'), listTasks(S + 2500, 'v2')], 25_000],
  ['a clock set back by an hour', 'SIGTERM', -HOUR_MS, [listTasks(S + 1000 + 3e6 * 3600)], 10_000 + 1.08e11],
  ['a clock set 7 h ahead', 'SIGTERM', 7 * HOUR_MS, [[], listTasks(S + 1200)], 12_000],
];

test('after a restart, tasks of 2 GB count what they gained', { concurrency: true }, async (t) => {
  const tests = CASES.map(([name, signal, clockStepMs, listings, expectedBytes]) =>
    t.test(name, async () => {
      using folder = new TemporaryFolder();
      await using service = await startService();
      await countAll(service, folder.at('state'), [listTasks(S), listTasks(S + 1000)], signal);
      if (clockStepMs !== 0) await stepClock(folder.at('state/database'), clockStepMs);
      assert.equal(await countAll(service, folder.at('state'), listings, 'SIGTERM'), expectedBytes);
    }),
  );
  await Promise.all(tests);
});

/** Runs the exporter until it has published each of the listings; returns the bytes that it has counted. */
async function countAll(
  service: Service,
  statePath: string,
  listings: readonly (readonly object[])[],
  signal: 'SIGKILL' | 'SIGTERM',
): Promise<number> {
  service.tasks = listings[0] ?? [];
  await using program = startWithState(service.url, statePath);
  const exporter = await RunningExporter.attach(program);
  let counted = 0;
  for (const tasks of listings) {
    service.tasks = tasks;
    service.listings = 0;
    // The first of two further listings may have been requested before.
    await waitUntil(
      () => service.listings,
      (number) => number > 2,
    );
    counted = (await exporter.sumFamily('xvs_input_bytes_total', 'TESTING')) ?? 0;
  }
  program.signal(signal);
  await program.exitCode;
  return counted;
}

/** Makes the wall clock of the next process differ from that of the last one: the record of the code has its time. */
async function stepClock(folder: string, stepMs: number): Promise<void> {
  const key = `TESTING\0${CODE_KEY}`;
  const database = await openLevelDatabase(folder);
  for await (const records of database.read(key)) {
    const record = JSON.parse(records[0]?.[1] ?? '') as { readonly last: Instant };
    const last = { ...record.last, wallMs: record.last.wallMs - stepMs };
    const batch = database.createBatch();
    batch.set(key, JSON.stringify({ ...record, last }));
    await batch.write();
  }
  await database.close();
}

interface Service extends AsyncDisposable {
  readonly url: string;
  tasks: readonly object[];
  /** Number of listings with the present tasks. */
  listings: number;
}

/** Starts a service that lists the given tasks. */
async function startService(): Promise<Service> {
  const server = createServer((_, response) => {
    service.listings += 1;
    response.end(JSON.stringify({ ret: 0, user_list: [], task_list: service.tasks }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const service: Service = {
    url: `http://127.0.0.1:${port}`,
    tasks: [],
    listings: 0,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return service;
}
