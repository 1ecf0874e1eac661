import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TASK_LIST_PATH } from '../../../src/upstream/signing.ts';

/** Growth of a task per listing. A stream carries 12.5 MB within a second. */
const GROWTH_BYTES = 10e6;
const LISTINGS_PER_RESTART = 3;

/** The output by which the exporter knows the task that restarts. */
export const RESTARTED = 'restarted.flv';

/**
 * A service with three tasks that grow with each listing, unless it is frozen: one runs on, one ends on demand, and one restarts
 * under another id again and again.
 */
export class GrowingService implements AsyncDisposable {
  isFrozen = true;
  listings = 0;
  growths = 0;
  #endedAfter: number | undefined;
  readonly #server = createServer((request, response) => {
    if (new URL(request.url ?? '', 'http://service').pathname !== TASK_LIST_PATH)
      response.writeHead(404).end();
    else response.end(JSON.stringify({ ret: 0, user_list: [], task_list: this.#listTasks() }));
  }).listen(0, '127.0.0.1');

  async start(): Promise<this> {
    await once(this.#server, 'listening');
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The bytes that all tasks have carried in each direction since the first listing, and those of the one that restarts. */
  get truth(): { readonly all: number; readonly restarted: number } {
    const restarted = this.growths * GROWTH_BYTES;
    return { all: 2 * restarted + (this.#endedAfter ?? this.growths) * GROWTH_BYTES, restarted };
  }

  endTask(): void {
    this.#endedAfter = this.growths;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #listTasks(): readonly object[] {
    this.listings += 1;
    if (!this.isFrozen) this.growths += 1;
    const run = Math.floor(this.growths / LISTINGS_PER_RESTART);
    const growthsOfRun = (this.growths % LISTINGS_PER_RESTART) + 1;
    return [
      createTask('long', 'long.flv', this.growths),
      ...(this.#endedAfter === undefined ? [createTask('ends', 'ends.flv', this.growths)] : []),
      createTask(`run-${run}`, RESTARTED, growthsOfRun),
    ];
  }
}

function createTask(id: string, fileName: string, growths: number): object {
  const bytes = growths * GROWTH_BYTES;
  const output = { format: 'flv', file_name: fileName, http_output_bytes: bytes, streams: [] };
  return { id, vs_id: 'v1', progress: 0, inputs: [], outputs: [output], input_bytes: bytes };
}
