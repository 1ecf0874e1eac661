import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readInstant } from '../../src/runtime/instant.ts';
import { measureHeapBytes } from '../support/heap.ts';
import { createRig, INTERVAL_MS } from '../unit/poller/rig.ts';

const MIB = 1024 ** 2;
const HOUR_MS = 60 * 60 * 1000;
const HOURS = Number(process.env['XVS_SOAK_HOURS'] ?? 16);
/** Accounts are remembered for six hours, label sets for one; tables of V8 grow by halves. */
const WARM_UP_HOURS = 8;
const TASKS = 20;

/** A listing in which each task, output and user has values that no other listing has. */
function createBody(listing: number): string {
  const tasks = Array.from({ length: TASKS }, (_, task) => {
    const name = `${listing}-${task}`;
    const outputs = ['flv', 'rtmp'].map((format) => ({
      file_name: `${name}.${format}`,
      format: `${format}-${name}`,
      tag: name,
      http_output_bytes: listing,
      http_connections_num: 1,
    }));
    const inputs = [{ url: `rtmp://${name}.example.com/`, device_version: name }];
    return { id: name, vs_id: name, opaque: name, input_bytes: listing, inputs, outputs };
  });
  const users = tasks.map(({ id }) => ({ vs_id: id, client_version: id, device_type: '10' }));
  return JSON.stringify({ ret: 0, user_list: users, task_list: tasks });
}

test(`while all values of a listing are new in each, the heap stops growing within ${WARM_UP_HOURS} hours`, async (t) => {
  const { clock, client, store, lines, pollOnce } = createRig(t);
  const heapMiB: number[] = [];
  for (let listing = 1; heapMiB.length < HOURS; listing += 1) {
    clock.advance(INTERVAL_MS);
    await pollOnce((request) => request.respond(createBody(listing)));
    for (const { samples } of store.collectFamilies(readInstant(clock), store.states)) void samples;
    // What only the test keeps.
    client.requests.length = 0;
    lines.length = 0;
    if ((listing * INTERVAL_MS) % HOUR_MS !== 0) continue;
    await nextTurn();
    heapMiB.push(measureHeapBytes() / MIB);
    t.diagnostic(`after ${heapMiB.length} hours ${heapMiB.at(-1)?.toFixed(1)} MiB`);
  }
  const before = Math.max(...heapMiB.slice(0, WARM_UP_HOURS));
  const after = Math.max(...heapMiB.slice(WARM_UP_HOURS));
  assert.ok(after < 1.1 * before, heapMiB.map((heap) => heap.toFixed(1)).join(' '));
});
