import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { ScriptedExporter } from './scripted-exporter.ts';

const CODE = 'TESTING';
const USERS = `xvs_listing_users{service_code="${CODE}"}`;
const TASKS = `xvs_listing_tasks{service_code="${CODE}"}`;

const EMPTY = { ret: 0, user_list: [], task_list: [] };
const FULL = {
  ret: 0,
  user_list: Array.from({ length: 500 }, () => ({
    vs_id: 's1',
    client_version: '451',
    device_type: '10',
  })),
  task_list: Array.from({ length: 100 }, (_, index) => ({
    id: `task-${index}`,
    vs_id: 's1',
    input_bytes: 5,
    inputs: [],
    outputs: [],
  })),
};

/** Starts an exporter without state, polls one listing or a failing service, and returns the users and tasks exposed. */
async function pollFromStart(listing: object | undefined): Promise<readonly (number | undefined)[]> {
  const server = createServer((_, response) => {
    response.statusCode = listing === undefined ? 503 : 200;
    response.end(JSON.stringify(listing));
  });
  await using exporter = await ScriptedExporter.start({ serviceCodes: [CODE], server });
  await exporter.poll();
  const series = await exporter.read();
  return [series.get(USERS), series.get(TASKS)];
}

test('after a restart without state, an empty listing is exposed as 0 users and 0 tasks', async () => {
  assert.deepEqual(await pollFromStart(FULL), [500, 100]);
  assert.deepEqual(await pollFromStart(EMPTY), [0, 0]);
});

test('after a restart without state, a service that fails has an unknown number of users and tasks', async () => {
  assert.deepEqual(await pollFromStart(undefined), [undefined, undefined]);
});
