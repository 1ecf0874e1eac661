import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** Limits that no operator can choose sensibly: constants, or shares of the memory of the process. */

const MIB = 1024 ** 2;

/** Connections to the web server. With a file descriptor each, they leave enough for polls. */
export const MAX_CONNECTIONS = 512;

/** Responses that are created at a time: each holds a body, a compressed copy and a thread. */
export const MAX_RESPONSES_BEING_CREATED = 4;

/** Passwords that wait for their comparison of about 0.1 s each. */
export const MAX_WAITING_PASSWORDS = 64;

/** Bytes of different responses that clients have not read yet, which Node.js holds beside the heap. */
export const MAX_UNREAD_RESPONSE_BYTES = Math.min(128 * MIB, getHeapStatistics().heap_size_limit / 8);

/** Records of one listing; further ones are surplus. Reading so many tiny ones takes about a second. */
export const MAX_LISTING_ROWS = 10_000_000;

/** Inputs or outputs of one task, and streams of one output. The reader holds all of a task at a time. */
export const MAX_LISTING_PARTS = 1000;

/** Bytes of one element of `user_list` or `task_list`, which the reader holds at a time. */
export const MAX_LISTING_ENTRY_BYTES = MIB;

/** As of request targets. A host of 20,000 combining marks would take 0.2 s. */
export const MAX_URL_CHARACTERS = 2048;

/** Characters of a text that are searched for the name of a task. */
export const MAX_NAMED_TEXT_CHARACTERS = 64 * 1024;

/** Decoded bytes of a listing that `once --explain` holds to show the names in it. */
export const MAX_EXPLAINED_LISTING_BYTES = 16 * MIB;

/**
 * Bytes of the heap for an account, at most: a task without outputs takes 375, one with three outputs, which
 * has four accounts, 440. Values that wait take 325 more, which the rest of the heap has to hold.
 */
const ACCOUNT_BYTES = 384;

/** Accounts of one listing, a fifth of the heap that V8 may use. Further tasks are in the gauges only. */
export const MAX_LISTING_ACCOUNTS = Math.floor(getHeapStatistics().heap_size_limit / 5 / ACCOUNT_BYTES);

/**
 * Accounts of all service codes, live and departed, and again of listings being read: a quarter of the heap.
 */
export const MAX_ACCOUNTS = Math.floor(getHeapStatistics().heap_size_limit / 4 / ACCOUNT_BYTES);

/**
 * Bytes of memory that the container or the unit of the process may use now, since both can be resized;
 * `undefined` without a limit, where Node.js returns 0 or more than the machine has.
 */
export function readMemoryLimit(): number | undefined {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : undefined;
}
