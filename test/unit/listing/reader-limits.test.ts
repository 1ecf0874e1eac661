import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCounts } from '../../../src/listing/rows.ts';
import type { Listing } from '../../../src/listing/listing.ts';
import type { ReaderLimits } from '../../../src/listing/reader-limits.ts';
import { viewListing } from '../../support/listing-view.ts';
import { createReaderPool, readInChunks } from '../../support/read-listing.ts';

const LIMITS: ReaderLimits = {
  maxLabelSets: 8,
  maxAccounts: 2,
  maxRows: 10_000,
  maxParts: 2,
  maxEntryBytes: 64 * 1024,
};

function readLimited(
  listing: { readonly users?: readonly unknown[]; readonly tasks?: readonly unknown[] },
  limits: Partial<ReaderLimits> = {},
): Listing {
  const { users = [], tasks = [] } = listing;
  const pool = createReaderPool({ ...LIMITS, ...limits });
  const body = JSON.stringify({ ret: 0, user_list: users, task_list: tasks });
  return readInChunks(Buffer.from(body), [], pool);
}

const surplusOf = ({ rows }: Listing) => readCounts(rows.listingSurplus);

const sum = (values: Readonly<Record<string, number>> = {}): number =>
  Object.values(values).reduce((total, value) => total + value, 0);

test('label sets beyond the limit share one row, and sums stay exact', () => {
  const users = Array.from({ length: 40 }, (_, index) => ({
    vs_id: 'a',
    client_version: `v${index % 20}`,
    device_type: String(index % 3),
  }));
  const listing = readLimited({ users }, { maxLabelSets: 10 });
  const { onlineUsers } = viewListing(listing).sums;
  const first = Array.from({ length: 10 }, (_, index) => [`v${index}|${index % 3}`, 1] as const);
  assert.deepEqual(onlineUsers, { ...Object.fromEntries(first), '__other__|__other__': 30 });
  assert.deepEqual(surplusOf(listing), { label_set: 30 });
});

test('label values that a field adds beyond twice the limit of label sets are __other__', () => {
  const users = Array.from({ length: 5000 }, (_, index) => ({ vs_id: `server-${index}` }));
  const listing = readLimited({ users });
  const { serverOnlineUsers } = viewListing(listing).sums;
  assert.equal(sum(serverOnlineUsers), 5000);
  assert.equal(Object.keys(serverOnlineUsers ?? {}).length, 9);
  assert.equal(surplusOf(listing)['label_value'], 5000 - 2 * LIMITS.maxLabelSets);
});

test('tasks beyond the limit are in the sums, but have no accounts', () => {
  const tasks = Array.from({ length: 5 }, (_, index) => ({ id: `t${index}`, vs_id: 'a' }));
  const listing = readLimited({ tasks });
  assert.deepEqual([listing.taskCount, listing.tasks.size], [5, 2]);
  assert.deepEqual(viewListing(listing).sums['tasks'], { a: 5 });
  assert.deepEqual(surplusOf(listing), { task: 3 });
});

test('tasks of expected names take the accounts of others', () => {
  const names = ['', 'a', '', 'b'];
  const body = Buffer.from(
    JSON.stringify({ ret: 0, user_list: [], task_list: names.map((opaque, n) => ({ id: `t${n}`, opaque })) }),
  );
  const options = { taskName: 'opaque', expectation: { names: ['a', 'b'] } } as const;
  const listing = readInChunks(body, [], createReaderPool(LIMITS), options);
  assert.deepEqual([...listing.tasks.keys()], ['t1', 't3']);
  assert.deepEqual(surplusOf(listing), { task: 2 });
});

test('inputs, outputs and streams beyond the limits are dropped', () => {
  const streams = Array.from({ length: 5 }, () => ({ codec_type: 0 }));
  const task = {
    id: 't',
    inputs: Array.from({ length: 4 }, (_, index) => ({ user_name: String(index), input_bytes: index })),
    outputs: Array.from({ length: 6 }, (_, index) => ({ file_name: String(index), streams })),
  };
  const listing = readLimited({ tasks: [task] }, { maxAccounts: 100 });
  const [read] = listing.tasks.values();
  assert.deepEqual([read?.inputs.length, read?.outputs.length, read?.inputCount], [2, 2, 4]);
  assert.equal(sum(viewListing(listing).sums['streams']), 4);
  assert.deepEqual(surplusOf(listing), { input: 2, output: 4, stream: 6 });
});

test('an entry of exactly the limit is read, a longer one rejected, for any cut', () => {
  const pool = createReaderPool(LIMITS);
  for (const excess of [0, 1]) {
    const padding = 'x'.repeat(LIMITS.maxEntryBytes - '{"id":""}'.length + excess);
    const body = Buffer.from(`{"ret":0,"task_list":[],"user_list":[{}, {"id":"${padding}"} ,{}]}`);
    for (const cuts of [
      [],
      [50],
      [70_000],
      [40_000, 66_000],
      Array.from({ length: 70 }, (_, n) => n * 1000),
    ]) {
      const listing = readInChunks(body, cuts, pool);
      assert.equal(listing.users, 3 - excess);
      assert.equal(listing.rows.invalidRecords.labelSets.length, excess);
    }
  }
});

test('an instance that a listing of many long texts has enlarged is dropped', () => {
  const pool = createReaderPool();
  const users = Array.from({ length: 40_000 }, (_, index) => {
    const text = `${'v'.repeat(120)}${index}`;
    return { vs_id: text, client_version: text, device_type: text };
  });
  const body = Buffer.from(JSON.stringify({ ret: 0, task_list: [], user_list: users }));
  assert.equal(readInChunks(body, [], pool).users, 40_000);
  assert.equal(pool.freeCount, 0);
});

test('invented values of one family leave those of others their rows', () => {
  const users = Array.from({ length: 2000 }, (_, index) => ({ client_version: `invented-${index}` }));
  const listing = readLimited({ users, tasks: [{ id: 't', vs_id: 'known', outputs: [{ format: 'flv' }] }] });
  const { tasks, outputs } = viewListing(listing).sums;
  assert.deepEqual([tasks, outputs], [{ known: 1 }, { 'known|flv': 1 }]);
});
