import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { Clock } from '../../src/runtime/clock.ts';
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
      const fault = jsonText.pipe(faultSchema).safeParse(await text(request));
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
