import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const LISTING = JSON.stringify({
  ret: 0,
  user_list: [{ vs_id: 'server-1', client_version: '451', device_type: '10' }],
  task_list: [{ id: 'task-1', vs_id: 'server-1', input_bytes: 1, inputs: [], outputs: [] }],
});

/** A service that can hold its responses. */
export class PausableService implements AsyncDisposable {
  /** If set, the service holds requests without a response. */
  isPaused = false;
  readonly url: string;
  readonly #server: Server;
  readonly #pending = new Set<ServerResponse>();

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (_request, response: ServerResponse) => {
      response.once('close', () => this.#pending.delete(response));
      if (this.isPaused) this.#pending.add(response);
      else response.end(LISTING);
    });
  }

  static async start(): Promise<PausableService> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new PausableService(server);
  }

  /** The number of requests that are held. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
