import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

/** The shortest listing. */
export const LISTING = '{"ret":0,"user_list":[],"task_list":[]}';
/** The lists of the shortest listing. */
export const LISTS = '"user_list":[],"task_list":[]';
/** A listing that compresses badly. */
export const LONG_LISTING = `{"ret":0,"user_list":[],"task_list":[],"filling":"${createHash('shake256', { outputLength: 10_000 }).digest('hex')}"}`;
/** Response headers. */
export const CHUNKED_HEADER = 'transfer-encoding: chunked';
export const GZIP_HEADER = 'content-encoding: gzip';
export const LENGTH_HEADER = `content-length: ${LISTING.length}`;
/** Decodes to 64 MiB. */
export const GZIP_BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '), { level: 9 });
