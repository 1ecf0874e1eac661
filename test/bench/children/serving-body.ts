import { once } from 'node:events';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { createListingBody } from '../listing-body.ts';
import { serveCommands } from './command-server.ts';

/** Time between the listings of alternating bodies. */
const INTERVAL_MS = 15_000;

/** Serves one body, or two in turn, for any request: `users tasks [gzip|alternating]`. */
async function serve([users, tasks, coding]: readonly string[]): Promise<void> {
  const plain = createListingBody(Number(users), Number(tasks));
  const body = coding === 'gzip' ? gzipSync(plain) : plain;
  const next = coding === 'alternating' ? createListingBody(Number(users), Number(tasks), INTERVAL_MS) : body;
  const headers = {
    'content-type': 'application/json',
    ...(coding === 'gzip' && { 'content-encoding': 'gzip' }),
  };
  let served = 0;
  const server = createServer((_request, response) => {
    const bytes = served % 2 === 0 ? body : next;
    served += 1;
    response.writeHead(200, { ...headers, 'content-length': bytes.length }).end(bytes);
  });
  // A poll may follow the last one later than after the default of 5 s, just when the server closes the connection.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  serveCommands({ address: () => ({ url: `http://127.0.0.1:${port}`, bytes: plain.length }) });
}

await serve(process.argv.slice(2));
