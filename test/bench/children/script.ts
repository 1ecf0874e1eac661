import { once } from 'node:events';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Gauge, register } from 'prom-client';
import { createUsageHandlers, serveCommands } from './command-server.ts';
import type { SimulatedTask, SimulatedUser } from '../../simulator/records.ts';

interface ParsedListing {
  readonly user_list: readonly SimulatedUser[];
  readonly task_list: readonly SimulatedTask[];
}

/** What people write instead of an exporter: a poll a second with `JSON.parse`, and gauges of prom-client. */
const compress = promisify(gzip);
const [source = ''] = process.argv.slice(2);
const gauge = (name: string, labelNames: readonly string[]) => new Gauge({ name, help: name, labelNames });
const users = gauge('online_users', ['client_version', 'device_type']);
const tasks = gauge('tasks', ['vs_id']);
const inputBytes = gauge('input_bytes', ['vs_id']);
const outputBytes = gauge('http_output_bytes', ['vs_id', 'format']);
const connections = gauge('http_connections', ['vs_id', 'format']);

async function poll(): Promise<void> {
  const listing = JSON.parse(await (await fetch(source)).text()) as ParsedListing;
  for (const metric of [users, tasks, inputBytes, outputBytes, connections]) metric.reset();
  for (const user of listing.user_list)
    users.inc({ client_version: user.client_version, device_type: user.device_type });
  for (const { vs_id, input_bytes, outputs } of listing.task_list) {
    tasks.inc({ vs_id });
    inputBytes.inc({ vs_id }, input_bytes);
    for (const { format, http_output_bytes, http_connections_num } of outputs) {
      outputBytes.inc({ vs_id, format }, http_output_bytes);
      connections.inc({ vs_id, format }, http_connections_num);
    }
  }
}

// An error ends this process.
setInterval(() => void poll(), 1000);
const server = createServer((_request, response) => {
  void register.metrics().then(async (text) => {
    response.setHeader('Content-Type', register.contentType).setHeader('Content-Encoding', 'gzip');
    response.end(await compress(text));
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
const port = typeof address === 'object' ? address?.port : undefined;
serveCommands({ address: () => ({ url: `http://127.0.0.1:${port}` }), ...createUsageHandlers() });
