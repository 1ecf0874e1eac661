import { createWorld } from '../simulator/world.ts';

/** The time for which bodies are generated. */
export const NOW_MS = Date.UTC(2026, 0, 1);

/** Creates a body as the service sends it, `afterMs` after that time. */
export function createListingBody(users: number, tasks: number, afterMs = 0): Buffer {
  const world = createWorld({ seed: 1, startedAtMs: NOW_MS, users, tasks });
  const list = (records: Iterable<unknown>): string =>
    Array.from(records, (record) => JSON.stringify(record)).join(',');
  return Buffer.from(
    `{"ret":0,"user_list":[${list(world.users('T', NOW_MS + afterMs))}],"task_list":[${list(world.tasks('T', NOW_MS + afterMs))}]}`,
  );
}

/** Number of servers in the other body. */
const OTHER_SERVERS = 500;

/**
 * The same records in another shape, so that the reader is not tuned to one: members in reverse order with
 * white space between them, solidus and letters beyond ASCII escaped, unknown members, many servers.
 */
export function createOtherListingBody(users: number, tasks: number): Buffer {
  const world = createWorld({ seed: 1, startedAtMs: NOW_MS, users, tasks });
  const list = (records: Iterable<object>): string => {
    let index = 0;
    return Array.from(records, (record) => writeOtherShape(record, index++)).join(', ');
  };
  return Buffer.from(
    `{"task_list": [${list(world.tasks('T', NOW_MS))}], "user_list": [${list(world.users('T', NOW_MS))}], "ret": 0}`,
  );
}

function writeOtherShape(record: object, index: number): string {
  const members = Object.entries(record).toReversed();
  const other = {
    region: 'r\u00e9gion',
    ...Object.fromEntries(members),
    vs_id: `server-${index % OTHER_SERVERS}`,
  };
  return JSON.stringify(other, undefined, 1).replaceAll('/', '\\/').replaceAll('\u00e9', '\\u00e9');
}
