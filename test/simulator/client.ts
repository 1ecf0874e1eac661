import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Simulator } from '../../src/simulator/server.ts';

const path = '/api/20140928/task_list';

export interface Credentials {
  readonly serviceCode: string;
  readonly secret: string;
  readonly timestampMs: number;
}

/**
 * Starts a signed call of `task_list`. `headers` and `query` take the place of the right ones.
 * Uses no agent, so that no socket outlives its call.
 */
export function call(
  simulator: Pick<Simulator, 'url'>,
  { serviceCode, secret, timestampMs }: Credentials,
  headers: Record<string, string> = {},
  query = `?service_code=${encodeURIComponent(serviceCode)}`,
): ClientRequest {
  const signature = createHmac('sha256', secret)
    .update(`${path}service_code=${serviceCode}${timestampMs}`)
    .digest('hex');
  const own = { 'xvs-signature': signature, 'xvs-timestamp': String(timestampMs) };
  return request(`${simulator.url}${path}${query}`, { agent: false, headers: { ...own, ...headers } }).end();
}

/** Waits for the answer's headers. Rejects if the call fails before. */
export async function answered(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.once('error', reject);
  });
}

export interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** Waits for the whole answer. */
export async function wholeAnswer(outgoing: ClientRequest): Promise<Answer> {
  const incoming = await answered(outgoing);
  return { status: incoming.statusCode, headers: incoming.headers, body: await buffer(incoming) };
}

/** Reads the first chunk and leaves the rest to come. */
export async function firstChunk(incoming: IncomingMessage): Promise<Buffer> {
  const [data]: unknown[] = await once(incoming, 'data');
  return Buffer.isBuffer(data) ? data : Buffer.alloc(0);
}

/** Sends a plain HTTP request to any path of the simulator. */
export async function send(
  simulator: Pick<Simulator, 'url'>,
  method: string,
  target: string,
  body?: string,
): Promise<Answer> {
  return wholeAnswer(request(`${simulator.url}${target}`, { agent: false, method }).end(body));
}
