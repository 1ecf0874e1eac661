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
  context: ControlContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://simulator');
  const serviceCode = searchParams.get('service_code') ?? undefined;
  switch (`${request.method ?? ''} ${pathname}`) {
    case 'GET /-/faults':
      return sendJson(response, 200, { faults: context.faults.listActive() });
    case 'PUT /-/faults':
      return setFault(context.faults, await readBody(request), response);
    case 'DELETE /-/faults':
      context.faults.clear(serviceCode);
      return sendJson(response, 200, { faults: context.faults.listActive() });
    case 'GET /-/totals':
      if (serviceCode === undefined)
        return sendJson(response, 400, { error: 'Expected ?service_code=, found none' });
      return sendJson(response, 200, getTotals(context, serviceCode));
    default:
      return sendJson(response, 404, { error: 'Expected GET, PUT or DELETE /-/faults, or GET /-/totals' });
  }
}

function setFault(faults: FaultRegistry, text: string | undefined, response: ServerResponse): void {
  if (text === undefined)
    return sendJson(response, 413, { error: `Expected a body of at most ${MAX_BODY_LENGTH} characters` });
  const fault = parseFault(text);
  if (!fault.success) return sendJson(response, 400, { error: z.prettifyError(fault.error) });
  faults.set(fault.data);
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

function parseFault(text: string) {
  return jsonText.pipe(faultSchema).safeParse(text);
}

function getTotals({ world, faults, clock }: ControlContext, serviceCode: string) {
  const nowMs = clock.now();
  const freezes = faults.listFreezes();
  return {
    at_ms: nowMs,
    input_bytes_pushed: world.inputBytesPushed(serviceCode, world.startedAtMs, nowMs, freezes),
    http_output_bytes_pushed: world.httpOutputBytesPushed(serviceCode, world.startedAtMs, nowMs, freezes),
  };
}

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
