import assert from 'node:assert/strict';
import { test } from 'node:test';
import { internLabels } from '../../../src/families/label-set.ts';
import type { LabelGroupName } from '../../../src/listing/label-groups.ts';
import { LabelSetLimit } from '../../../src/tally/label-set-limit.ts';
import { buildTaskRecord, buildUserRecord } from '../../support/record-builders.ts';
import { readValues, TallyRun } from '../../support/tally-run.ts';

const MINUTE_MS = 60_000;

/** A listing: its minute, its label sets, and the rows that they get. Labels are joined by a space. */
type Step = readonly [minute: number, labelSets: string, rows: string];

interface Rule {
  readonly group: LabelGroupName;
  readonly limit: number;
  readonly steps: readonly Step[];
}

const RULES: Readonly<Record<string, Rule>> = {
  'new label sets take free rows in the order of the listing; the rest fold': {
    group: 'tags',
    limit: 2,
    steps: [[0, 'a|b|c|d', 'a|b|__other__|__other__']],
  },
  'a label set keeps its row while it is present, whatever order or number of others': {
    group: 'tags',
    limit: 2,
    steps: [
      [0, 'a|b', 'a|b'],
      [600, 'd|c|b|a', '__other__|__other__|b|a'],
    ],
  },
  'it keeps its row for an hour after it left': {
    group: 'tags',
    limit: 1,
    steps: [
      [0, 'a', 'a'],
      [60, 'b', '__other__'],
      [60, 'a', 'a'],
      [121, 'b', 'b'],
      [122, 'a', '__other__'],
    ],
  },
  'one that comes back after more than an hour keeps its row, too': {
    group: 'tags',
    limit: 1,
    steps: [
      [0, 'a', 'a'],
      [300, 'b|a', '__other__|a'],
    ],
  },
  'the one that has been absent longest gives way first; of those, the one that got its row first': {
    group: 'tags',
    limit: 3,
    steps: [
      [0, 'a|b|c', 'a|b|c'],
      [1, 'a', 'a'],
      [100, 'd', 'd'],
      [101, 'c', 'c'],
      [102, 'b', 'b'],
      [103, 'e', '__other__'],
    ],
  },
  'the labels that fold are __other__, the others stay': {
    group: 'outputs',
    limit: 1,
    steps: [[0, 's1 flv|s2 flv|s3 rtmp', 's1 flv|__other__ flv|__other__ __other__']],
  },
  'rows of folded label sets come on top, an eighth of the limit, rounded up, and one beside them': {
    group: 'outputs',
    limit: 9,
    steps: [
      [0, 's1 a|s2 a|s3 a|s4 a|s5 a|s6 a|s7 a|s8 a|s9 a', 's1 a|s2 a|s3 a|s4 a|s5 a|s6 a|s7 a|s8 a|s9 a'],
      [1, 's a|s b|s c|s d', '__other__ a|__other__ b|__other__ __other__|__other__ __other__'],
      [600, 's c', 's c'],
    ],
  },
  'they are never evicted': {
    group: 'outputs',
    limit: 1,
    steps: [
      [0, 's1 a|s2 a', 's1 a|__other__ a'],
      [300, 's1 a', 's1 a'],
      [600, 's1 a|s2 b', 's1 a|__other__ __other__'],
    ],
  },
  'all labels that fold do so at once': {
    group: 'renditions',
    limit: 1,
    steps: [[0, 'h264 aac 1x1|h264 aac 2x2', 'h264 aac 1x1|__other__ __other__ __other__']],
  },
  'a value that is literally __other__ is folded': {
    group: 'users',
    limit: 5,
    steps: [[0, '__other__ 10|1 10|__other__ __other__', '__other__ __other__|1 10|__other__ __other__']],
  },
  'label sets of which all values are known have no limit': {
    group: 'bitRates',
    limit: 1,
    steps: [[0, 'video copy|video transcode|audio copy', 'video copy|video transcode|audio copy']],
  },
};

for (const [name, { group, limit, steps }] of Object.entries(RULES)) {
  test(name, () => {
    const rows = new LabelSetLimit(group, limit);
    for (const [minute, listed, expected] of steps) {
      const labelSets = listed.split('|').map((labels) => internLabels(labels.split(' ')));
      const at = { wallMs: 0, monotonicMs: minute * MINUTE_MS };
      const assigned = rows.assign(labelSets, at).map((row) => rows.labelSets[row]?.join(' '));
      assert.equal(assigned.join('|'), expected, `minute ${minute}`);
    }
  });
}

test('restored label sets count as present in the last written listing, even beyond the limit', () => {
  const rows = new LabelSetLimit('tags', 1);
  for (const label of ['a', 'b']) rows.restore([label], { wallMs: 0, monotonicMs: 0 });
  const assign = (label: string, minute: number): unknown => {
    const [row = 0] = rows.assign([internLabels([label])], { wallMs: 0, monotonicMs: minute * MINUTE_MS });
    return rows.labelSets[row]?.[0];
  };
  assert.deepEqual([assign('b', 1), assign('c', 60), assign('a', 60)], ['b', '__other__', 'a']);
});

const listVersions = (...versions: readonly string[]) => ({
  users: versions.map((clientVersion) => buildUserRecord({ clientVersion, deviceType: '1' })),
});

test('sums stay exact, and the number of label sets that folded is exposed from the first one on', () => {
  const run = new TallyRun({ maxLabelSets: 2 });
  const first = run.commitListing(listVersions('a', 'b', 'c', 'd', 'c'));
  assert.deepEqual(readValues(first, 'onlineUsers'), { 'a 1': 1, 'b 1': 1, '__other__ __other__': 3 });
  assert.deepEqual(readValues(first, 'foldedLabelSets'), { xvs_online_users: 2 });
  const second = run.commitListing(listVersions('a'));
  assert.deepEqual(readValues(second, 'onlineUsers'), { 'a 1': 1 });
  assert.deepEqual(readValues(second, 'foldedLabelSets'), { xvs_online_users: 0 });
});

test('a counter whose row was evicted starts again at 0', () => {
  const run = new TallyRun({ maxLabelSets: 1 });
  const commit = (bytes: Readonly<Record<string, number>>, afterMs?: number) => {
    const tasks = Object.entries(bytes).map(([vsId, inputBytes]) =>
      buildTaskRecord({ id: vsId, vsId, inputBytes }),
    );
    return readValues(run.commitListing({ tasks }, afterMs), 'inputBytes');
  };
  commit({ s1: 0 });
  assert.deepEqual(commit({ s1: 10 }), { s1: 10 });
  assert.deepEqual(commit({ s1: 10, s2: 500 }), { s1: 10, __other__: 500 });
  // The end of its last task does not make a server present.
  assert.deepEqual(commit({ s2: 600 }, 30 * MINUTE_MS), { s1: 10, __other__: 600 });
  assert.deepEqual(commit({ s2: 650 }, 30 * MINUTE_MS + 1), { s2: 50, __other__: 600 });
  assert.deepEqual(commit({ s2: 700, s1: 15 }), { s2: 100, __other__: 605 });
});

test('an end is counted for its own server, although the new one needs its row after an hour', () => {
  const run = new TallyRun({ maxLabelSets: 1 });
  const commit = (vsId: string, afterMs?: number) => {
    const tasks = Array.from({ length: 50 }, (_, index) => buildTaskRecord({ id: `${vsId}-${index}`, vsId }));
    return run.commitListing({ tasks }, afterMs);
  };
  commit('s1');
  const moved = commit('s2', 61 * MINUTE_MS);
  assert.deepEqual(readValues(moved, 'tasksEnded'), { s1: 50, __other__: 0 });
  assert.deepEqual(readValues(moved, 'tasksStarted'), { s1: 0, __other__: 50 });
  const later = commit('s2');
  assert.deepEqual(readValues(later, 'tasksEnded'), { s2: 0, __other__: 0 });
});
