import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { nodeFileSystem } from '../../../src/state/file-system.ts';
import { deferred } from '../../support/deferred.ts';
import type { LogLine } from '../../support/recording-logger.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { createDiskFullError, createHookedFileSystem, filesWithWriteHook, NOW_MS } from './state-fixtures.ts';
import { closeAbandonedFiles, createKilledState, RETAIN_MS, StoreHarness } from './store-fixtures.ts';

after(closeAbandonedFiles);

const INPUT = 'inputBytes v';
const STARTED = 'tasksStarted v';

const messages = (lines: readonly LogLine[]): string[] => lines.map(({ level, msg }) => `${level} ${msg}`);

test('after a kill, counters resume at exactly the published totals', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  const killed = await StoreHarness.start(path, ['A']);
  await killed.publish('A', { 'v/1': 0 });
  await killed.writeSnapshot();
  killed.clock.advance(30 * 60 * 1000);
  await killed.publish('A', { 'v/1': 1_000_000_000_000 });
  const scraped = await killed.publish('A', { 'v/1': 1_000_009_000_300 });
  assert.equal(scraped[INPUT], 1_000_009_000_300);

  const restarted = await StoreHarness.start(path, ['A'], nodeFileSystem, killed.clock.now() + 10_000);
  assert.equal(restarted.resumed('A')[INPUT], 1_000_009_000_300);
  assert.equal((await restarted.publish('A', { 'v/1': 1_000_009_000_300 }))[INPUT], 1_000_009_000_300);
  assert.equal((await restarted.publish('A', { 'v/1': 1_000_009_000_307 }))[INPUT], 1_000_009_000_307);
});

test('after any number of kills, gains and starts since the snapshot are counted once', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  await createKilledState(path, [{ 'v/1': 100 }], [{ 'v/1': 150, 'v/2': 1000, 'w/3': 7 }]);
  for (const gain of [0, 10, 20, 30]) {
    const restarted = await StoreHarness.start(path, ['A']);
    const totals = await restarted.publish('A', { 'v/1': 150 + gain, 'v/2': 1000, 'w/3': 7 });
    assert.deepEqual([totals[INPUT], totals['inputBytes w'], totals[STARTED]], [1050 + gain, 7, 1]);
    assert.equal(totals['tasksStarted w'], 1);
  }
});

test('a counter does not decrease if a task that gained bytes after the snapshot has ended', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  await createKilledState(path, [{ 'v/1': 100 }], [{ 'v/1': 150 }]);
  const restarted = await StoreHarness.start(path, ['A']);
  assert.equal((await restarted.publish('A', {}))[INPUT], 50);
  assert.equal((await restarted.publish('A', { 'v/2': 5 }))[INPUT], 55);
});

test('a service code without a snapshot resumes at its published totals after a kill', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  const killed = await StoreHarness.start(path, ['A']);
  await killed.publish('A', { 'v/1': 100 });
  await killed.publish('A', { 'v/1': 150 });
  for (const bytes of [150, 170]) {
    const restarted = await StoreHarness.start(path, ['A']);
    assert.equal((await restarted.publish('A', { 'v/1': bytes }))[INPUT], 50);
  }
});

test('the state survives restarts without a successful poll, and kills after them', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  await createKilledState(path, [{ 'v/1': 100 }], [{ 'v/1': 150 }]);
  for (const _ of [1, 2, 3]) {
    const withoutListing = await StoreHarness.start(path, ['A']);
    await withoutListing.writeSnapshot();
    await withoutListing.store[Symbol.asyncDispose]();
  }
  const restarted = await StoreHarness.start(path, ['A']);
  assert.equal((await restarted.publish('A', { 'v/1': 160 }))[INPUT], 60);
});

test('the state of an unconfigured service code is kept, and used once the code is configured', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  const killed = await StoreHarness.start(path, ['A', 'B']);
  for (const bytes of [100, 150]) {
    await killed.publish('A', { 'v/1': bytes });
    await killed.publish('B', { 'v/1': bytes });
    if (bytes === 100) await killed.writeSnapshot();
  }
  const restarted = await StoreHarness.start(path, ['A']);
  await restarted.publish('A', { 'v/1': 160 });
  await restarted.writeSnapshot();
  restarted.configure('B');
  assert.equal((await restarted.publish('B', { 'v/1': 170 }))[INPUT], 70);
  await restarted.writeSnapshot();
  // Reloads remove the service code and configure it again.
  restarted.tallies.delete('B');
  await restarted.writeSnapshot();
  restarted.configure('B');
  assert.equal((await restarted.publish('B', { 'v/1': 180 }))[INPUT], 80);
  await restarted.store[Symbol.asyncDispose]();
  assert.equal((await StoreHarness.open(path, ['B'])).resumed('B')[INPUT], 80);
});

test('the state of an unconfigured service code is dropped after state.retain', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  const first = await StoreHarness.start(path, ['A', 'B']);
  await first.publish('B', { 'v/1': 100 });
  await first.publish('B', { 'v/1': 150 });
  await first.store[Symbol.asyncDispose]();
  for (const [afterMs, total] of [
    [0, 50],
    [RETAIN_MS - 1, 50],
    [RETAIN_MS, undefined],
  ] as const) {
    const restarted = await StoreHarness.start(path, ['A'], nodeFileSystem, NOW_MS + 100_000 + afterMs);
    const wasDropped = messages(restarted.lines).includes(
      'info Dropped the state of unconfigured service codes',
    );
    assert.equal(wasDropped, total === undefined);
    assert.equal((await StoreHarness.open(path, ['B'])).resumed('B')[INPUT], total);
  }
});

test('each mismatch of state file and journal is logged in one warning', async (t) => {
  const table: readonly (readonly [
    name: string,
    change: (path: string, otherPath: string) => void,
    warning: string,
    resumed: number | undefined,
  ])[] = [
    [
      'the journal of another state file',
      (path, other) => writeFileSync(`${path}.journal`, readFileSync(`${other}.journal`)),
      'warn State journal is unusable; counters resume from the state file',
      100,
    ],
    [
      'no journal',
      (path) => rmSync(`${path}.journal`),
      'warn State journal not found; counters resume from the state file',
      100,
    ],
    [
      'no state file',
      (path) => rmSync(path),
      'warn State journal has no state file; its totals are not used',
      undefined,
    ],
    [
      'a truncated state file',
      (path) => writeFileSync(path, readFileSync(path).subarray(0, -1)),
      'warn State file is unusable; counters start at 0',
      undefined,
    ],
    [
      'a journal of a later version',
      (path) =>
        writeFileSync(
          `${path}.journal`,
          readFileSync(`${path}.journal`, 'utf8').replace('"version":4', '"version":5'),
        ),
      'warn State journal is unusable; counters resume from the state file',
      100,
    ],
  ];
  for (const [name, change, warning, resumed] of table) {
    await t.test(name, async () => {
      using folder = new TemporaryFolder();
      for (const file of ['state', 'other'])
        await createKilledState(folder.at(file), [{ 'v/1': 0 }, { 'v/1': 100 }], [{ 'v/1': 175 }]);
      change(folder.at('state'), folder.at('other'));
      const restarted = await StoreHarness.start(folder.at('state'), ['A']);
      assert.deepEqual(
        messages(restarted.lines).filter((line) => line.startsWith('warn')),
        [warning],
      );
      assert.equal(restarted.resumed('A')[INPUT], resumed);
      await restarted.publish('A', { 'v/1': 175 });
      await restarted.store[Symbol.asyncDispose]();
    });
  }
});

test('on a full disk, the last state stays usable, and a missed record is written later', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  let isFull = false;
  const files = filesWithWriteHook(() => {
    if (isFull) throw createDiskFullError();
  });
  const harness = await StoreHarness.start(path, ['A'], files);
  await harness.publish('A', { 'v/1': 0, 'w/2': 0 });
  await harness.writeSnapshot();
  await harness.publish('A', { 'v/1': 100, 'w/2': 100 });
  isFull = true;
  await harness.publish('A', { 'v/1': 150, 'w/2': 150 });
  await harness.writeSnapshot();
  await harness.publish('A', { 'v/1': 160, 'w/2': 150 });
  assert.equal((await StoreHarness.open(path, ['A'])).resumed('A')[INPUT], 100);
  isFull = false;
  await harness.publish('A', { 'v/1': 170, 'w/2': 150 });
  const reopened = await StoreHarness.open(path, ['A']);
  assert.deepEqual(messages(reopened.lines), ['info State restored']);
  const resumed = reopened.resumed('A');
  assert.deepEqual([resumed[INPUT], resumed['inputBytes w']], [170, 150]);
  assert.equal(harness.errors.length, 3);
  assert.deepEqual(
    messages(harness.lines).filter((line) => !line.startsWith('debug')),
    [
      'info State file not found; counters start at 0',
      'warn State journal write failed',
      'warn State write failed',
      'info State journal written',
    ],
  );
});

test('a disk that does not respond delays a listing by 100 ms once', async () => {
  using folder = new TemporaryFolder();
  const release = deferred();
  let isStuck = false;
  const files = filesWithWriteHook(() => (isStuck ? release.promise : undefined));
  const harness = await StoreHarness.start(folder.at('state'), ['A', 'B'], files);
  await harness.publish('A', { 'v/1': 0 });
  await harness.writeSnapshot();
  isStuck = true;
  const first = harness.publish('A', { 'v/1': 10 });
  await new Promise(setImmediate);
  harness.clock.advance(100);
  assert.equal((await first)[INPUT], 10);
  await harness.publish('A', { 'v/1': 20 });
  await harness.publish('A', { 'v/1': 30, 'w/2': 5 });
  isStuck = false;
  release.resolve();
  await harness.publish('B', { 'v/1': 0 });
  const reopened = await StoreHarness.open(folder.at('state'), ['A', 'B']);
  assert.deepEqual([reopened.resumed('A')[INPUT], reopened.resumed('A')['inputBytes w']], [30, 5]);
});

test('a journal contains only changed series, and each snapshot starts a new one', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  let writeCount = 0;
  const files = createHookedFileSystem((operation) => {
    if (operation === 'write') writeCount += 1;
  });
  const harness = await StoreHarness.start(path, ['A'], files);
  await harness.publish('A', { 'v/1': 0, 'w/2': 0 });
  await harness.writeSnapshot();
  const [, ...none] = readFileSync(`${path}.journal`, 'utf8').trimEnd().split('\n');
  assert.deepEqual(none, []);
  writeCount = 0;
  await harness.publish('A', { 'v/1': 7, 'w/2': 0 });
  assert.equal(writeCount, 1);
  const [, line = '', ...rest] = readFileSync(`${path}.journal`, 'utf8').trimEnd().split('\n');
  assert.deepEqual(rest, []);
  assert.match(line, /\["inputBytes",\["v"\],7\]/);
  assert.doesNotMatch(line, /\["w"\]/);
  assert.deepEqual(readdirSync(folder.path).toSorted(), ['state', 'state.journal']);
});
