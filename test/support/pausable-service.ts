import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const LISTING = JSON.stringify({
  ret: 0,
  user_list: [{ vs_id: 'server-1', client_version: '451', device_type: '10' }],
  task_list: [{ id: 'task-1', vs_id: 'server-1', input_bytes: 1, inputs: [], outputs: [] }],
});

/** A service that counts what it is asked, and answers when the test wants it to. */
export class HoldingService implements AsyncDisposable {
  /** Whether requests get no answer. */
  isHolding = false;
  /** How many requests have come. */
  requests = 0;
  /** The most that were under way at a time. */
  mostAtATime = 0;
  readonly url: string;
  readonly #server: Server;
  readonly #held = new Set<ServerResponse>();

  private constructor(server: Server, tookMs: number) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    let atATime = 0;
    server.on('request', (_request, response: ServerResponse) => {
      this.requests += 1;
      atATime += 1;
      this.mostAtATime = Math.max(this.mostAtATime, atATime);
      response.once('close', () => {
        atATime -= 1;
        this.#held.delete(response);
      });
      if (this.isHolding) this.#held.add(response);
      else setTimeout(() => response.end(LISTING), tookMs);
    });
  }

  /** One that takes so long for each answer. */
  static async listening(tookMs = 0): Promise<HoldingService> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new HoldingService(server, tookMs);
  }

  /** Answers what it holds, and whatever comes. */
  release(): void {
    this.isHolding = false;
    for (const response of this.#held) response.end(LISTING);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
