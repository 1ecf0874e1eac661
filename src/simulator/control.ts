import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { faultSchema, type FaultBoard } from './faults.ts';
import type { World } from './world.ts';

/** What an operator can look at and change while the simulator runs. */
export interface Controlled {
  readonly world: World;
  readonly faults: FaultBoard;
  readonly clock: Clock;
}

/** Every control path starts so. */
export const controlPrefix = '/-/';

const maxBodyLength = 64 * 1024;

/**
 * Answers a control call:
 *
 * - `GET /-/faults` lists what is switched on, `PUT /-/faults` switches the fault in its JSON body on,
 *   `DELETE /-/faults` switches everything off, or with `?service_code=` what was set for that code.
 * - `GET /-/account?service_code=` gives the totals of the code's listing now, and the bytes since the start.
 */
export async function control(
  controlled: Controlled,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://simulator');
  const serviceCode = searchParams.get('service_code') ?? undefined;
  switch (`${request.method ?? ''} ${pathname}`) {
    case 'GET /-/faults':
      return send(response, 200, { faults: controlled.faults.active() });
    case 'PUT /-/faults':
      return setFault(controlled.faults, await textOf(request), response);
    case 'DELETE /-/faults':
      controlled.faults.clear(serviceCode);
      return send(response, 200, { faults: controlled.faults.active() });
    case 'GET /-/account':
      if (serviceCode === undefined)
        return send(response, 400, { error: 'Expected ?service_code=, found none' });
      return send(response, 200, accountOf(controlled, serviceCode));
    default:
      return send(response, 404, { error: 'Expected GET, PUT or DELETE /-/faults, or GET /-/account' });
  }
}

function setFault(faults: FaultBoard, text: string, response: ServerResponse): void {
  const fault = parseFault(text);
  if (!fault.success) return send(response, 400, { error: z.prettifyError(fault.error) });
  faults.set(fault.data);
  return send(response, 200, { faults: faults.active() });
}

const jsonText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue('Expected a fault as JSON, found something else');
    return z.NEVER;
  }
});

function parseFault(text: string) {
  return jsonText.pipe(faultSchema).safeParse(text);
}

function accountOf({ world, faults, clock }: Controlled, serviceCode: string) {
  const nowMs = clock.now();
  const freezes = faults.freezes();
  return {
    at_ms: nowMs,
    ...world.account(serviceCode, nowMs, freezes),
    input_bytes_pushed: world.inputBytesPushed(serviceCode, world.startedAtMs, nowMs, freezes),
    http_output_bytes_pushed: world.httpOutputBytesPushed(serviceCode, world.startedAtMs, nowMs, freezes),
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    if (text.length < maxBodyLength) text += String(chunk);
  }
  return text;
}

function send(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(value)}\n`);
}
