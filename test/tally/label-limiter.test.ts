import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { labelValue } from '../../src/tally/label-values.ts';
import { taskRecord, userRecord } from '../support/task-record.ts';
import { TallyRun, valuesOf } from '../support/tally-run.ts';

const sum = (values: Record<string, number>): number => Object.values(values).reduce((a, b) => a + b, 0);
const versions = (counts: Record<string, number>) =>
  Object.entries(counts).flatMap(([clientVersion, count]) =>
    Array.from({ length: count }, () => userRecord({ clientVersion, deviceType: '1' })),
  );

test('label values are made harmless', async (t) => {
  const table: [string, string | undefined, string][] = [
    ['plain', '451', '451'],
    ['missing', undefined, 'unknown'],
    ['empty', '', 'unknown'],
    ['only control characters', '\u0000\u001f\u007f\u0085', 'unknown'],
    ['control characters within', 'a\nb\u0000c', 'abc'],
    ['a lone surrogate', 'a\ud800b', 'a\ufffdb'],
    ['too long', 'x'.repeat(129), 'x'.repeat(128)],
    ['too long, of wide characters', '😀'.repeat(200), '😀'.repeat(128)],
    ['quotes and backslashes stay', 'a"b\\c', 'a"b\\c'],
  ];
  for (const [name, text, value] of table) await t.test(name, () => assert.equal(labelValue(text), value));
});

test('whatever comes, a label value is whole Unicode of 1 to 128 characters without control characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (text) => {
      const value = labelValue(text);
      const length = Array.from(value).length;
      assert.ok(length >= 1 && length <= 128 && value.isWellFormed() && !/\p{Cc}/u.test(value));
    }),
  );
});

test('beyond the limit the largest stay, the rest folds, and the sum is exact', () => {
  const snapshot = new TallyRun({ maxLabelSets: 2 }).list({ users: versions({ a: 1, b: 5, c: 2, d: 3 }) });
  assert.deepEqual(valuesOf(snapshot, 'onlineUsers'), { 'b 1': 5, 'd 1': 3, '__other__ __other__': 3 });
  assert.equal(valuesOf(snapshot, 'foldedLabelSets')['xvs_online_users'], 2);
});

test('a label set that calls itself __other__ joins the fold and is no series twice', () => {
  const users = [
    userRecord({ clientVersion: '__other__', deviceType: '__other__' }),
    ...versions({ a: 1, b: 1 }),
  ];
  const snapshot = new TallyRun({ maxLabelSets: 1 }).list({ users });
  assert.deepEqual(valuesOf(snapshot, 'onlineUsers'), { 'a 1': 1, '__other__ __other__': 2 });
});

test('strangers at every listing do not move what was there', () => {
  const run = new TallyRun({ maxLabelSets: 10 });
  const shown = new Set<string>();
  for (let listing = 0; listing < 50; listing += 1) {
    const strangers = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`x${listing}-${n}`, 1]));
    const snapshot = run.list({ users: versions({ known: 3, rare: 1, ...strangers }) });
    const values = valuesOf(snapshot, 'onlineUsers');
    if (listing === 0) assert.equal(values['known 1'], 3);
    assert.equal(sum(values), 504);
    assert.ok(Object.keys(values).length <= 11);
    for (const key of Object.keys(values)) shown.add(key);
  }
  assert.ok(shown.size <= 11, `Expected 11 series at most over all listings, found ${shown.size}`);
});

test('a newcomer with far more takes the place of the smallest', () => {
  const run = new TallyRun({ maxLabelSets: 2 });
  run.list({ users: versions({ a: 10, b: 4 }) });
  const almost = run.list({ users: versions({ a: 10, b: 4, c: 8 }) });
  assert.deepEqual(valuesOf(almost, 'onlineUsers'), { 'a 1': 10, 'b 1': 4, '__other__ __other__': 8 });
  const more = run.list({ users: versions({ a: 10, b: 4, c: 9 }) });
  assert.deepEqual(valuesOf(more, 'onlineUsers'), { 'a 1': 10, 'c 1': 9, '__other__ __other__': 4 });
});

test('a counter beyond the limit counts under __other__, and none goes backwards', () => {
  const run = new TallyRun({ maxLabelSets: 1 });
  const tasks = (bytes: number) =>
    ['s1', 's2', 's3'].map((vsId) => taskRecord({ id: vsId, vsId, inputBytes: bytes }));
  run.list({ tasks: tasks(0) });
  const snapshot = run.list({ tasks: tasks(10) });
  assert.deepEqual(valuesOf(snapshot, 'inputBytes'), { s1: 10, __other__: 20 });
  assert.equal(valuesOf(snapshot, 'foldedLabelSets')['xvs_input_bytes_total'], 2);
});

test('a counter idle for an hour gives way to one that would find no place', () => {
  const run = new TallyRun({ maxLabelSets: 1 });
  const only = (vsId: string, inputBytes: number) => ({
    tasks: [taskRecord({ id: vsId, vsId, inputBytes })],
  });
  run.list(only('s1', 0));
  run.list(only('s1', 10));
  assert.deepEqual(valuesOf(run.list(only('s2', 5), 3_599_999), 'inputBytes'), { s1: 10, __other__: 0 });
  run.list(only('s3', 5), 60_000);
  assert.deepEqual(valuesOf(run.list(only('s3', 6)), 'inputBytes'), { s3: 6, __other__: 5 });
});
