import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExpectedTaskLogger } from '../../../src/poller/expected-task-logger.ts';
import type { ExpectedTask } from '../../../src/tally/expectations.ts';
import { createRecordingLogger } from '../../support/recording-logger.ts';

const SINCE_MS = Date.UTC(2026, 0, 1);
const SINCE = '2026-01-01T00:00:00.000Z';

type Change = Partial<ExpectedTask>;
const UP: Change = { condition: 'up', sinceMs: SINCE_MS };
const SLOW: Change = { ...UP, slowSinceMs: SINCE_MS };
const MISSING: Change = { condition: 'missing', sinceMs: SINCE_MS };
const STALLED: Change = { condition: 'stalled', sinceMs: SINCE_MS };
const WITHOUT_INPUT: Change = { condition: 'without_input', sinceMs: SINCE_MS };
const UNKNOWN: Change = { condition: 'unknown' };

function start() {
  const { logger, lines } = createRecordingLogger();
  const taskLogger = new ExpectedTaskLogger(logger);
  let readCount = 0;
  /** Logs a listing at a monotonic second, and returns the new lines. */
  const list = (second: number, tasks: Readonly<Record<string, Change>>) => {
    const expectedTasks = Object.entries(tasks).map(([name, change]): ExpectedTask => ({
      name,
      condition: 'missing',
      outputs: undefined,
      sinceMs: undefined,
      ...change,
    }));
    taskLogger.log({ expectedTasks, at: { wallMs: SINCE_MS, monotonicMs: second * 1000 } });
    const newLines = lines.slice(readCount);
    readCount = lines.length;
    return newLines;
  };
  return { list };
}

const warn = (...streams: readonly string[]) => ({
  level: 'warn',
  count: streams.length,
  streams,
  msg: 'Expected streams fall short',
});
const info = (...streams: readonly string[]) => ({
  level: 'info',
  count: streams.length,
  streams,
  msg: 'Expected streams are back',
});

test('at a start only names that are not up are logged', () => {
  const { list } = start();
  assert.deepEqual(list(0, { main: UP, low: UP }), []);
  assert.deepEqual(start().list(0, { main: UP, backup: { condition: 'missing' }, low: STALLED }), [
    warn('backup missing', `low stalled since ${SINCE}`),
  ]);
});

test('a listing has at most two lines, and repeats none', () => {
  const { list } = start();
  list(0, { a: UP, b: UP, c: MISSING, d: UP, e: SLOW });
  const changed = { a: MISSING, b: SLOW, c: UP, d: WITHOUT_INPUT, e: UP };
  assert.deepEqual(list(60, changed), [
    warn(`a missing since ${SINCE}`, `b slow since ${SINCE}`, `d without input since ${SINCE}`),
    info('c', 'e'),
  ]);
  assert.deepEqual(list(120, changed), []);
});

test('another reason to be down is a change', () => {
  const { list } = start();
  list(0, { main: SLOW });
  assert.deepEqual(list(60, { main: STALLED }), [warn(`main stalled since ${SINCE}`)]);
  assert.deepEqual(list(120, { main: SLOW }), [warn(`main slow since ${SINCE}`)]);
});

test('of many names the first ten are listed, and all are counted', () => {
  const names = Array.from({ length: 12 }, (_, index) => `s${index}`);
  const { list } = start();
  const [line] = list(0, Object.fromEntries(names.map((name) => [name, { condition: 'missing' }])));
  assert.deepEqual(line, { ...warn(...names.slice(0, 10).map((name) => `${name} missing`)), count: 12 });
});

test('a name is logged once a minute, and a change that was held back when it still holds', () => {
  const { list } = start();
  list(0, { main: UP });
  assert.deepEqual(list(10, { main: MISSING }), [warn(`main missing since ${SINCE}`)]);
  assert.deepEqual(list(20, { main: UP }), []);
  assert.deepEqual(list(69, { main: UP }), []);
  assert.deepEqual(list(70, { main: UP }), [info('main')]);
  // It falls and returns within the next minute: the last line is true.
  assert.deepEqual(list(80, { main: STALLED }), []);
  assert.deepEqual(list(129, { main: UP }), []);
  assert.deepEqual(list(200, { main: UP }), []);
});

test('unknown is neither logged nor a change', () => {
  const { list } = start();
  assert.deepEqual(list(0, { main: UNKNOWN, low: SLOW }), [warn(`low slow since ${SINCE}`)]);
  assert.deepEqual(list(60, { main: UP, low: UNKNOWN }), []);
  assert.deepEqual(list(120, { main: UNKNOWN, low: SLOW }), []);
});

test('a name that is expected again is logged as at a start', () => {
  const { list } = start();
  list(0, { main: MISSING });
  list(60, {});
  assert.deepEqual(list(120, { main: UP }), []);
});
