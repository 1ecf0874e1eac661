import type { Duplex } from 'node:stream';
import type { Clock } from '../../src/clock.ts';
import type { FaultBoard, FaultRequest } from '../../src/simulator/faults.ts';
import { reset, type Front, type Script } from './front.ts';
import type { Resolver } from './resolver.ts';

/** What a fault is made with: all that stands between the exporter and the listing of one service code. */
export interface Breakable {
  readonly serviceCode: string;
  readonly front: Front;
  readonly faults: FaultBoard;
  readonly resolver?: Resolver;
  readonly clock: Clock;
}

/** Makes a fault. */
export type Break = (it: Breakable) => void | Promise<void>;

/** Undoes whatever was done. */
export async function mend(it: Breakable): Promise<void> {
  it.faults.clear(it.serviceCode);
  if (it.resolver !== undefined) it.resolver.does = 'address';
  await it.front.mend();
}

/** A fault that the simulator has. */
export function simulated(fault: FaultRequest): Break {
  return ({ faults, serviceCode }) => faults.set({ ...fault, serviceCode });
}

function scripted(script: Script): Break {
  return ({ front }) => {
    front.script = script;
  };
}

/** Says this on each request, and then nothing. */
export function says(...parts: readonly (string | Buffer)[]): Break {
  return scripted((connection) => connection.write(joined(parts)));
}

/** Says this on each request, and resets the connection. The bytes are let through before the RST, which would overtake them. */
export function saysAndResets(...parts: readonly (string | Buffer)[]): Break {
  return scripted((connection) => {
    connection.write(joined(parts), () => setImmediate(reset, connection));
  });
}

/** Says this on each request, and closes the connection. */
export function saysAndEnds(...parts: readonly (string | Buffer)[]): Break {
  return scripted((connection) => connection.end(joined(parts)));
}

/** Says a part, and then one byte after the other. */
export function drips(first: string, everyMs: number): Break {
  return scripted((connection) => {
    connection.write(first);
    const drip = setInterval(() => connection.write(' '), everyMs);
    connection.once('close', () => clearInterval(drip));
  });
}

/** Says a part, and then another without end, as fast as it is taken. */
export function floods(first: string, piece: Buffer): Break {
  return scripted((connection) => {
    connection.write(first);
    pour(connection, piece);
  });
}

function pour(connection: Duplex, piece: Buffer): void {
  while (!connection.destroyed && connection.write(piece)) continue;
  if (!connection.destroyed) connection.once('drain', () => pour(connection, piece));
}

/** The head of an answer. */
export function head(...headers: readonly string[]): string {
  return ['HTTP/1.1 200 OK', 'content-type: application/json', ...headers, '', ''].join('\r\n');
}

/** Answers each request with this body, its length said rightly. */
export function answers(body: string | Buffer, ...headers: readonly string[]): Break {
  const bytes = Buffer.from(body);
  return says(head(`content-length: ${bytes.length}`, ...headers), bytes);
}

/** Answers each request with another status. */
export function answersStatus(status: number, body: string, ...headers: readonly string[]): Break {
  return says(statusText(status, body, headers));
}

/** Answers each request with a status and a `Retry-After` that depends on the time. */
export function asksForPause(status: number, valueAt: (nowMs: number) => string): Break {
  return ({ front, clock }) => {
    front.script = (connection) => {
      const retryAfter = `retry-after: ${valueAt(clock.now())}`;
      connection.write(statusText(status, JSON.stringify({ ret: status }), [retryAfter]));
    };
  };
}

function statusText(status: number, body: string, headers: readonly string[]): string {
  return [`HTTP/1.1 ${status} Whatever`, `content-length: ${body.length}`, ...headers, '', body].join('\r\n');
}

function joined(parts: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}
