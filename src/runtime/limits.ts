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
