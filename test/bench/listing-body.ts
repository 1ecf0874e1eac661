import { createWorld } from '../../src/simulator/world.ts';

/** The moment at which bodies are taken. */
export const NOW_MS = Date.UTC(2026, 0, 1);

/** A body as the service sends it, `afterMs` after the moment. */
export function createListingBody(users: number, tasks: number, afterMs = 0): Buffer {
  const world = createWorld({ seed: 1, startedAtMs: NOW_MS, users, tasks });
  const list = (records: Iterable<unknown>): string =>
    Array.from(records, (record) => JSON.stringify(record)).join(',');
  return Buffer.from(
    `{"ret":0,"user_list":[${list(world.users('T', NOW_MS + afterMs))}],"task_list":[${list(world.tasks('T', NOW_MS + afterMs))}]}`,
  );
}
