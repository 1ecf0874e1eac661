import { createHmac } from 'node:crypto';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Simulator } from '../../../src/simulator/server.ts';

const taskListPath = '/api/20140928/task_list';

export interface Credentials {
  readonly serviceCode: string;
  readonly secret: string;
  readonly timestampMs: number;
}

/**
 * Starts a signed request of `task_list`. `headers` and `query` replace the valid ones.
 * Uses no agent, so that no socket outlives its request.
 */
export function requestTaskList(
  simulator: Pick<Simulator, 'url'>,
  { serviceCode, secret, timestampMs }: Credentials,
  headers: Record<string, string> = {},
  query = `?service_code=${encodeURIComponent(serviceCode)}`,
): ClientRequest {
  const signature = createHmac('sha256', secret)
    .update(`${taskListPath}service_code=${serviceCode}${timestampMs}`)
    .digest('hex');
  const own = { 'xvs-signature': signature, 'xvs-timestamp': String(timestampMs) };
  return request(`${simulator.url}${taskListPath}${query}`, {
    agent: false,
    headers: { ...own, ...headers },
  }).end();
}

/** Waits for the headers of the response. Rejects if the request fails before. */
export async function waitForResponse(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.once('error', reject);
  });
}

export interface SimulatorResponse {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** Waits for the complete response. */
export async function readResponse(outgoing: ClientRequest): Promise<SimulatorResponse> {
  const incoming = await waitForResponse(outgoing);
  return { status: incoming.statusCode, headers: incoming.headers, body: await buffer(incoming) };
}

/** Sends a plain HTTP request to any path of the simulator. */
export async function sendRequest(
  simulator: Pick<Simulator, 'url'>,
  method: string,
  target: string,
  body?: string,
): Promise<SimulatorResponse> {
  return readResponse(request(`${simulator.url}${target}`, { agent: false, method }).end(body));
}
