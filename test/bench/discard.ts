import { createGunzip } from 'node:zlib';
import { request } from 'undici';

/** Requests a body, decompresses it if it is compressed, and discards it. */
export async function discard(url: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
  const answer = await request(url, { headers });
  const isZipped = answer.headers['content-encoding'] === 'gzip';
  const chunks = isZipped ? answer.body.pipe(createGunzip({ chunkSize: 64 * 1024 })) : answer.body;
  for await (const _ of chunks);
}
