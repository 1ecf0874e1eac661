import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { serveHttp } from '../../support/servers.ts';

const LISTING = JSON.stringify({
  ret: 0,
  user_list: [{ vs_id: 'server-1', client_version: '451', device_type: '10' }],
  task_list: [{ id: 'task-1', vs_id: 'server-1', input_bytes: 1, inputs: [], outputs: [] }],
});

/** Starts a service that holds requests without a response while it is paused. */
export async function startPausableService(t: TestContext) {
  const held = new Set<ServerResponse>();
  const state = { isPaused: false };
  const url = await serveHttp(t, (_request, response) => {
    response.once('close', () => held.delete(response));
    if (state.isPaused) held.add(response);
    else response.end(LISTING);
  });
  return { url, state, countHeld: () => held.size };
}
