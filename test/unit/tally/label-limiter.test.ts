import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CATALOGUE } from '../../../src/metrics/catalogue/catalogue.ts';
import { sanitizeLabelValue } from '../../../src/listing/label-values.ts';
import { arbitraryText } from '../../support/arbitrary-text.ts';
import { buildOutputRecord, buildTaskRecord, buildUserRecord } from '../../support/record-builders.ts';
import { readValues, sumValues, TallyRun } from '../../support/tally-run.ts';

const versions = (counts: Record<string, number>) =>
  Object.entries(counts).flatMap(([clientVersion, count]) =>
    Array.from({ length: count }, () => buildUserRecord({ clientVersion, deviceType: '1' })),
  );

test('label values are sanitized', async (t) => {
  const table: [string, string | undefined, string][] = [
    ['plain', '451', '451'],
    ['missing', undefined, 'unknown'],
    ['empty', '', 'unknown'],
    ['only control characters', '\u0000\u001f\u007f\u0085', 'unknown'],
    ['control characters within', 'a\nb\u0000c', 'abc'],
    ['format characters', '4\u202e51\u200b\ufeff\u{e0041}', '451'],
    ['only format characters', '\u200b\u2060', 'unknown'],
    ['a lone surrogate', 'a\ud800b', 'a\ufffdb'],
    ['too long', 'x'.repeat(129), 'x'.repeat(128)],
    ['too long, of wide characters', '😀'.repeat(200), '😀'.repeat(128)],
    ['quotes and backslashes stay', 'a"b\\c', 'a"b\\c'],
  ];
  for (const [name, text, value] of table)
    await t.test(name, () => assert.equal(sanitizeLabelValue(text), value));
});

test('a label value is well-formed Unicode of 1 to 128 characters without control characters', () => {
  fc.assert(
    fc.property(arbitraryText(600), (text) => {
      const value = sanitizeLabelValue(text);
      const length = Array.from(value).length;
      assert.ok(length >= 1 && length <= 128 && value.isWellFormed() && !/[\p{Cc}\p{Cf}]/u.test(value));
    }),
  );
});

test('beyond the limit, the largest label sets keep their slots, the others fold, and the sum is exact', () => {
  const snapshot = new TallyRun({ maxLabelSets: 2 }).commitListing({
    users: versions({ a: 1, b: 5, c: 2, d: 3 }),
  });
  assert.deepEqual(readValues(snapshot, 'onlineUsers'), { 'b 1': 5, 'd 1': 3, '__other__ 1': 3 });
  assert.equal(readValues(snapshot, 'foldedLabelSets')['xvs_online_users'], 2);
});

test('a label set with the value __other__ shares its series with the folded ones', () => {
  const users = [
    buildUserRecord({ clientVersion: '__other__', deviceType: '__other__' }),
    ...versions({ a: 1, b: 1 }),
  ];
  const snapshot = new TallyRun({ maxLabelSets: 1 }).commitListing({ users });
  assert.deepEqual(readValues(snapshot, 'onlineUsers'), {
    'a 1': 1,
    '__other__ 1': 1,
    '__other__ __other__': 1,
  });
});

test('new label values replace at most one series per slot and hour', () => {
  const run = new TallyRun({ maxLabelSets: 10 });
  const shown = new Set<string>();
  for (let listing = 0; listing < 200; listing += 1) {
    const invented = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`x${listing}-${n}`, 1]));
    const snapshot = run.commitListing({ users: versions({ known: 3, ...invented }) });
    const values = readValues(snapshot, 'onlineUsers');
    assert.equal(values['known 1'], 3);
    assert.equal(sumValues(values), 503);
    assert.ok(Object.keys(values).length <= 11);
    for (const key of Object.keys(values)) shown.add(key);
  }
  // 200 listings take 50 minutes: 10 series at first, 10 replaced immediately, 9 later, and the folded one.
  assert.ok(shown.size <= 30, `Expected 30 series at most over all listings, found ${shown.size}`);
});

test('a candidate more than twice as large replaces the smallest incumbent', () => {
  const run = new TallyRun({ maxLabelSets: 2 });
  run.commitListing({ users: versions({ a: 10, b: 4 }) });
  const almost = run.commitListing({ users: versions({ a: 10, b: 4, c: 8 }) });
  assert.deepEqual(readValues(almost, 'onlineUsers'), { 'a 1': 10, 'b 1': 4, '__other__ 1': 8 });
  const more = run.commitListing({ users: versions({ a: 10, b: 4, c: 9 }) });
  assert.deepEqual(readValues(more, 'onlineUsers'), { 'a 1': 10, 'c 1': 9, '__other__ 1': 4 });
});

test('a counter keeps its slot while its label set is present; one that is released starts again at 0', () => {
  const run = new TallyRun({ maxLabelSets: 1 });
  const commit = (bytes: Readonly<Record<string, number>>) => {
    const tasks = Object.entries(bytes).map(([vsId, inputBytes]) =>
      buildTaskRecord({ id: vsId, vsId, inputBytes }),
    );
    return readValues(run.commitListing({ tasks }), 'inputBytes');
  };
  commit({ s1: 0 });
  assert.deepEqual(commit({ s1: 10 }), { s1: 10 });
  assert.deepEqual(commit({ s1: 10, s2: 500 }), { s1: 10, __other__: 500 });
  assert.deepEqual(commit({ s2: 600 }), { s2: 100, __other__: 500 });
  assert.deepEqual(commit({ s2: 650 }), { s2: 150, __other__: 500 });
  assert.deepEqual(commit({ s1: 15, s2: 650 }), { s2: 150, __other__: 505 });
  assert.deepEqual(commit({ s1: 20 }), { s1: 5, __other__: 505 });
});

test('live servers have slots, those that left do not', () => {
  const run = new TallyRun({ maxLabelSets: 25 });
  const fixed = Array.from({ length: 20 }, (_, index) => `fixed-${index}`);
  for (let poll = 0; poll < 11; poll += 1) {
    const servers = [...fixed, ...Array.from({ length: 5 }, (_, index) => `new-${poll}-${index}`)];
    const snapshot = run.commitListing({
      users: servers.map((vsId) => buildUserRecord({ vsId })),
      tasks: servers.map((vsId) => buildTaskRecord({ id: vsId, vsId })),
    });
    const expected = Object.fromEntries(servers.map((vsId) => [vsId, 1]));
    for (const family of ['tasks', 'serverOnlineUsers'] as const)
      assert.deepEqual(readValues(snapshot, family), expected, `${family} of poll ${poll}`);
    assert.deepEqual(Object.keys(readValues(snapshot, 'inputBytes')).toSorted(), servers.toSorted());
  }
});

test('folding replaces the least bounded label first', () => {
  const run = new TallyRun({ maxLabelSets: 20 });
  const tasks = Array.from({ length: 40 }, (_, server) => {
    const vsId = `s${server}`;
    const outputs = ['flv', 'rtmp'].map((format) =>
      buildOutputRecord({ format, httpConnectionsNum: 2, httpOutputBytes: 100 }),
    );
    return buildTaskRecord({ id: vsId, vsId, outputs });
  });
  run.commitListing({});
  run.commitListing({ tasks });
  const snapshot = run.commitListing({ tasks });
  for (const [family, each] of [
    ['httpConnections', 2],
    ['httpOutputBytes', 100],
  ] as const) {
    const values = readValues(snapshot, family);
    assert.equal(Object.keys(values).length, 22);
    assert.ok((readValues(snapshot, 'foldedLabelSets')[CATALOGUE[family].name] ?? 0) > 0);
    assert.equal(sumValues(values), 80 * each);
    for (const format of ['flv', 'rtmp']) {
      const ofFormat = Object.entries(values).filter(([labels]) => labels.endsWith(` ${format}`));
      assert.equal(sumValues(Object.fromEntries(ofFormat)), 40 * each, `${family} ${format}`);
    }
  }
});

test('the vs_id __other__ is not counted as folded', () => {
  const run = new TallyRun();
  const tasks = [
    buildTaskRecord({ vsId: '__other__', inputBytes: 5 }),
    buildTaskRecord({ id: 'b', inputBytes: 5 }),
  ];
  run.commitListing({});
  run.commitListing({ tasks });
  const snapshot = run.commitListing({ tasks, users: [buildUserRecord({ vsId: '__other__' })] });
  assert.deepEqual(readValues(snapshot, 'foldedLabelSets'), {});
  assert.deepEqual(readValues(snapshot, 'tasks'), { 'server-1': 1, __other__: 1 });
  assert.deepEqual(readValues(snapshot, 'inputBytes'), { 'server-1': 5, __other__: 5 });
});
