import { once } from 'node:events';
import { createServer } from 'node:http';
import { createListingBody } from '../listing-body.ts';
import { serveCommands } from './command-server.ts';

/** Time between the listings of alternating bodies. */
const INTERVAL_MS = 15_000;

/** Serves one body, or two in turn, for any request: `users tasks [alternating]`. */
async function serve([users, tasks, bodies]: readonly string[]): Promise<void> {
  const body = createListingBody(Number(users), Number(tasks));
  const next = bodies === 'alternating' ? createListingBody(Number(users), Number(tasks), INTERVAL_MS) : body;
  let served = 0;
  const server = createServer((_request, response) => {
    const bytes = served % 2 === 0 ? body : next;
    served += 1;
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length })
      .end(bytes);
  });
  // A poll may follow the last one later than after the default of 5 s, just when the server closes the
  // connection.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  serveCommands({ address: () => ({ url: `http://127.0.0.1:${port}`, bytes: body.length }) });
}

await serve(process.argv.slice(2));
