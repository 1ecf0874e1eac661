import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';

/** The shortest listing. */
export const LISTING = '{"ret":0,"user_list":[],"task_list":[]}';
/** Its lists alone. */
export const LISTS = '"user_list":[],"task_list":[]';
/** A listing that is long when it is compressed, too. */
export const LONG = `{"ret":0,"user_list":[],"task_list":[],"filling":"${randomBytes(10_000).toString('hex')}"}`;
/** Headers of an answer. */
export const CHUNKED = 'transfer-encoding: chunked';
export const GZIP = 'content-encoding: gzip';
export const LENGTH = `content-length: ${LISTING.length}`;
/** Few bytes that swell to many. */
export const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '), { level: 9 });
