import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import { Store, unpolled, type CodeState } from '../../src/poller/store.ts';
import { taskRecord, userRecord } from '../support/task-record.ts';
import { TallyRun } from '../support/tally-run.ts';

const STALE_AFTER_MS = 45_000;

function polled(serviceCode: string): CodeState {
  const run = new TallyRun();
  return {
    ...unpolled(serviceCode, STALE_AFTER_MS),
    isUp: true,
    ret: 0,
    snapshot: run.list({ users: [userRecord()], tasks: [taskRecord()] }),
  };
}

function storeOf(...states: readonly CodeState[]): Store {
  const store = new Store();
  for (const state of states) store.publish(state);
  return store;
}

/** Names of the families with samples. */
const shown = (store: Store, nowMs: number): string[] =>
  store
    .families(nowMs)
    .filter(({ samples }) => samples.length > 0)
    .map(({ spec }) => spec.name);

test('before its first poll a service code has no series', () => {
  assert.deepEqual(shown(storeOf(unpolled('TESTING', STALE_AFTER_MS)), 0), []);
});

test('a stale listing loses its gauges, and keeps its counters and what the last poll came to', () => {
  const state = polled('TESTING');
  const store = storeOf({ ...state, isUp: false, ret: undefined });
  const listedMs = state.snapshot?.at.monotonicMs ?? 0;
  const fresh = shown(store, listedMs + STALE_AFTER_MS);
  const stale = shown(store, listedMs + STALE_AFTER_MS + 1);
  assert.ok(fresh.includes('xvs_tasks') && fresh.includes('xvs_server_last_seen_timestamp_seconds'));
  assert.deepEqual(stale, [
    'xvs_up',
    'xvs_input_bytes_total',
    'xvs_tasks_started_total',
    'xvs_tasks_ended_total',
    'xvs_task_stalls_total',
    'xvs_byte_count_resets_total',
    'xvs_task_lifetime_seconds',
  ]);
});

test('a service code alone can be asked for', () => {
  const store = storeOf({ ...polled('A'), isUp: false }, polled('B'));
  const up = store.families(0, new Set(['A'])).find(({ spec }) => spec.name === 'xvs_up');
  assert.deepEqual(up?.samples, [{ labels: ['A'], value: 0 }]);
});

test('the parts of a family come one behind the other, and each family is of the catalogue', () => {
  const names = storeOf(polled('A'), polled('B'))
    .families(0)
    .map(({ spec }) => spec.name);
  const catalogue: readonly string[] = Object.values(CATALOGUE).map(({ name }) => name);
  const begun = names.filter((name, index) => name !== names[index - 1]);
  assert.deepEqual(begun, [...new Set(names)]);
  for (const name of begun) assert.ok(catalogue.includes(name), name);
});
