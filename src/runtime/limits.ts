import { getHeapStatistics } from 'node:v8';

/*
 * Limits that no operator can choose sensibly: constants, or shares of the memory that the process may use. A limit
 * that depends on the service or the machine is a setting instead.
 */

const GIB = 1024 ** 3;

/**
 * Decoded bytes of all responses that are being read at a time. They are streamed, not held: the limit bounds the work
 * that bodies which expand without end can cause together.
 */
export const MAX_TOTAL_RESPONSE_BYTES = 2 * GIB;

const MIB = 1024 ** 2;

/** Connections to the web server. With a file descriptor each, they leave enough for polls. */
export const MAX_CONNECTIONS = 512;

/** Responses that are created at a time, in as many threads as compress them: each holds a body and a compressed copy. */
export const MAX_RESPONSES_BEING_CREATED = 4;

/** Passwords that wait for their comparison of about 0.1 s each. */
export const MAX_WAITING_PASSWORDS = 64;

/** Scrapes that wait for polls; half of the connections, so that other requests have the rest. */
export const MAX_WAITING_SCRAPES = MAX_CONNECTIONS / 2;

/** Bytes of different responses that clients have not read yet, which Node.js holds beside the heap. */
export const MAX_UNREAD_RESPONSE_BYTES = Math.min(128 * MIB, getHeapStatistics().heap_size_limit / 4);
