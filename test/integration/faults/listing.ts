import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

/** The shortest listing. */
export const LISTING = '{"ret":0,"user_list":[],"task_list":[]}';
/** Its lists alone. */
export const LISTS = '"user_list":[],"task_list":[]';
/** A listing that is long when it is compressed, too. */
export const LONG_LISTING = `{"ret":0,"user_list":[],"task_list":[],"filling":"${createHash('shake256', { outputLength: 10_000 }).digest('hex')}"}`;
/** Headers of an answer. */
export const CHUNKED_HEADER = 'transfer-encoding: chunked';
export const GZIP_HEADER = 'content-encoding: gzip';
export const LENGTH_HEADER = `content-length: ${LISTING.length}`;
/** Few bytes that swell to many. */
export const GZIP_BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '), { level: 9 });
