import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { Clock } from '../runtime/clock.ts';
import { faultSchema, type FaultRegistry } from './faults.ts';
import type { World } from './world.ts';

/** The parts of a running simulator that the control API reads and changes. */
export interface ControlContext {
  readonly world: World;
  readonly faults: FaultRegistry;
  readonly clock: Clock;
}

/** The prefix of all paths of the control API. */
export const CONTROL_PREFIX = '/-/';

const MAX_BODY_LENGTH = 64 * 1024;

/**
 * Handles a request of the control API:
 *
 * - `GET /-/faults` lists the active faults, `PUT /-/faults` activates the fault in its JSON body,
 *   `DELETE /-/faults` clears all faults, or with `?service_code=` those of one service code.
 * - `GET /-/totals?service_code=` returns the bytes that tasks received and delivered since the start.
 */
export async function handleControlRequest(
  { world, faults, clock }: ControlContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://simulator');
  const serviceCode = searchParams.get('service_code') ?? undefined;
  switch (`${request.method ?? ''} ${pathname}`) {
    case 'GET /-/faults':
      break;
    case 'PUT /-/faults': {
      const text = await readBody(request);
      if (text === undefined)
        return sendJson(response, 413, { error: `Expected a body of at most ${MAX_BODY_LENGTH} characters` });
      const fault = jsonText.pipe(faultSchema).safeParse(text);
      if (!fault.success) return sendJson(response, 400, { error: z.prettifyError(fault.error) });
      faults.set(fault.data);
      break;
    }
    case 'DELETE /-/faults':
      faults.clear(serviceCode);
      break;
    case 'GET /-/totals': {
      if (serviceCode === undefined)
        return sendJson(response, 400, { error: 'Expected ?service_code=, found none' });
      const nowMs = clock.now();
      const bytes = world.bytesPushed(serviceCode, world.startedAtMs, nowMs, faults.listFreezes());
      return sendJson(response, 200, {
        at_ms: nowMs,
        input_bytes_pushed: bytes.input,
        http_output_bytes_pushed: bytes.httpOutput,
      });
    }
    default:
      return sendJson(response, 404, { error: 'Expected GET, PUT or DELETE /-/faults, or GET /-/totals' });
  }
  return sendJson(response, 200, { faults: faults.listActive() });
}

const jsonText = z.string().transform((text, refinement): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    refinement.addIssue('Expected a fault as JSON, found something else');
    return z.NEVER;
  }
});

/** Reads a body; `undefined` if it is longer than the limit. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > MAX_BODY_LENGTH) return undefined;
  }
  return text;
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(value)}\n`);
}
