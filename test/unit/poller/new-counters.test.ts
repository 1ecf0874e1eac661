import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PollHistory } from '../../../src/poller/poll-history.ts';
import { NO_POLLS } from '../../../src/poller/poll-metrics.ts';
import { Store, type NewCounters } from '../../../src/poller/store.ts';
import { buildTaskRecord } from '../../support/record-builders.ts';
import { render } from '../../support/render.ts';
import { TallyRun } from '../../support/tally-run.ts';

type Bytes = Readonly<Record<string, number>>;

const COUNTER =
  /^xvs_(?:expected_)?(?:task_)?input_bytes_total\{service_code="TESTING",(\w+)="(.*)"\} (\d+)$/;
const PREFIXES: Readonly<Record<string, string>> = { task_id: 'task ', task_name: 'name ' };

/** The label of a counter, with `task` before the id and `name` before the name of a task, and its value. */
function readCounter(line: string): [string, number][] {
  const [, label, text = '', value] = COUNTER.exec(line) ?? [];
  return label === undefined ? [] : [[`${PREFIXES[label] ?? ''}${text}`, Number(value)]];
}

/** A run in which each task is on a server of its own, which has its name. Its first listing is empty. */
function startRun(): TallyRun {
  const run = new TallyRun({ perTask: true, maxLabelSets: 2 });
  run.commitListing({});
  return run;
}

/** Commits a listing and returns what is exposed of it. */
function expose(run: TallyRun, inputBytes: Bytes, afterMs?: number, newCounters?: NewCounters): Bytes {
  const tasks = Object.entries(inputBytes).map(([id, bytes]) =>
    buildTaskRecord({ id, vsId: id, name: id, inputBytes: bytes }),
  );
  const snapshot = run.commitListing({ tasks }, afterMs);
  const store = new Store();
  const polls = { intervalMs: 1000, listedMs: 0, polls: NO_POLLS, history: new PollHistory(), labels: {} };
  store.publish({ serviceCode: 'TESTING', staleAfterMs: 1000, ...polls, snapshot });
  const families = store.collectFamilies(snapshot.at, store.states, newCounters);
  return Object.fromEntries(render(families, 'text').split('\n').flatMap(readCounter));
}

test('a new counter is at 0 in listings for 90 seconds, that of a task in its first listing', () => {
  const run = startRun();
  assert.deepEqual(expose(run, { a: 700 }), { a: 0, 'task a': 0 });
  assert.deepEqual(expose(run, { a: 800, b: 5 }, 45_000), { a: 0, b: 0, 'task a': 800, 'task b': 0 });
  assert.deepEqual(expose(run, { a: 900, b: 5 }, 44_999), { a: 0, b: 0, 'task a': 900, 'task b': 5 });
  assert.deepEqual(expose(run, { a: 900, b: 5 }, 1), { a: 900, b: 0, 'task a': 900, 'task b': 5 });
  assert.deepEqual(expose(run, { a: 900, b: 6 }, 45_000), { a: 900, b: 6, 'task a': 900, 'task b': 6 });
});

test('pages and once show totals', () => {
  assert.deepEqual(expose(startRun(), { a: 700 }, undefined, 'total'), { a: 700, 'task a': 700 });
});

test('a label set of an earlier process is not new', () => {
  const run = startRun();
  expose(run, { a: 700 });
  run.restart();
  assert.deepEqual(expose(run, { a: 800, b: 5 }), { a: 800, b: 0, 'task a': 800, 'task b': 0 });
});

test('a label set that was evicted and comes back is new, one that kept its row is not', () => {
  const run = startRun();
  expose(run, { a: 700, b: 700 });
  expose(run, { b: 700 }, 90_000);
  assert.deepEqual(expose(run, { b: 700, c: 700 }, 3_600_001), { b: 700, c: 0, 'task b': 700, 'task c': 0 });
  expose(run, { c: 700 }, 90_000);
  const values = { a: 0, c: 700, 'task a': 0, 'task c': 700 };
  assert.deepEqual(expose(run, { a: 800, c: 700 }, 3_600_001), values);
});

test('an expected name is at 0 for 90 seconds from the first listing with the expectation on', () => {
  const run = startRun();
  run.expect('a');
  assert.equal(expose(run, { b: 5 })['name a'], 0);
  assert.equal(expose(run, { a: 700 }, 89_999)['name a'], 0);
  assert.equal(expose(run, { a: 800 }, 1)['name a'], 800);
});

test('an expected name of an earlier process is not new', () => {
  const run = startRun();
  run.expect('a');
  expose(run, { a: 700 });
  run.restart();
  assert.equal(expose(run, { a: 800 })['name a'], 100);
});

test('an expected name that is added again within six hours is not new', () => {
  const run = startRun();
  run.expect('a');
  for (const bytes of [700, 800]) expose(run, { a: bytes });
  run.expect('b');
  expose(run, { a: 900 }, 90_000);
  run.expect('a', 'b');
  const values = expose(run, { a: 950, b: 5 });
  assert.deepEqual([values['name a'], values['name b']], [100, 0]);
});
