import { once } from 'node:events';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { createListingBody } from '../listing-body.ts';
import { serveCommands } from './command-server.ts';

/** Serves one body, made beforehand, to whatever is asked: `users tasks [gzip]`. */
async function serve([users, tasks, coding]: readonly string[]): Promise<void> {
  const plain = createListingBody(Number(users), Number(tasks));
  const body = coding === 'gzip' ? gzipSync(plain) : plain;
  const headers = {
    'content-type': 'application/json',
    'content-length': body.length,
    ...(coding === 'gzip' && { 'content-encoding': 'gzip' }),
  };
  const server = createServer((_request, response) => response.writeHead(200, headers).end(body));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  serveCommands({ address: () => ({ url: `http://127.0.0.1:${port}`, bytes: plain.length }) });
}

await serve(process.argv.slice(2));
