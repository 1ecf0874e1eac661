import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { faultSchema, type FaultRegistry } from './faults.ts';

export const FAULTS_PATH = '/-/faults';

/**
 * Handles a request of faults: `GET` lists the active ones, `PUT` activates the one in its JSON body,
 * `DELETE` clears all, or with `?service_code=` those of one service code.
 */
export async function handleFaultRequest(
  faults: FaultRegistry,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === 'PUT') {
    const fault = jsonText.pipe(faultSchema).safeParse(await text(request));
    if (!fault.success) return sendJson(response, 400, { error: z.prettifyError(fault.error) });
    faults.set(fault.data);
  } else if (request.method === 'DELETE') {
    const { searchParams } = new URL(request.url ?? '', 'http://simulator');
    faults.clear(searchParams.get('service_code') ?? undefined);
  } else if (request.method !== 'GET') {
    return sendJson(response, 405, { error: 'Expected GET, PUT or DELETE' });
  }
  return sendJson(response, 200, { faults: faults.listActive() });
}

const jsonText = z.string().transform((body, refinement): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    refinement.addIssue('Expected a fault as JSON, found something else');
    return z.NEVER;
  }
});

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(value)}\n`);
}
