import { createGunzip } from 'node:zlib';
import { request } from 'undici';
import { answerPolls } from './polls.ts';

/** Reads a body, decompressed where it must be, and throws it away. */
async function discard(url: string): Promise<void> {
  const { body, headers } = await request(url);
  const chunks =
    headers['content-encoding'] === 'gzip' ? body.pipe(createGunzip({ chunkSize: 64 * 1024 })) : body;
  for await (const _ of chunks);
}

answerPolls(discard);
