import type { Duplex } from 'node:stream';
import type { Clock } from '../../src/runtime/clock.ts';
import type { FaultRegistry, FaultRequest } from '../simulator/faults.ts';
import { resetConnection, type FaultProxy, type RequestScript } from './fault-proxy.ts';
import type { FakeResolver } from './fake-resolver.ts';

/** Everything between the exporter and the listing of one service code, where faults are injected. */
export interface FaultTarget {
  readonly serviceCode: string;
  readonly proxy: FaultProxy;
  readonly faults: FaultRegistry;
  readonly resolver?: FakeResolver;
  readonly clock: Clock;
}

/** Injects a fault. */
export type FaultAction = (it: FaultTarget) => void | Promise<void>;

/** Removes all faults. */
export async function clearFaults(it: FaultTarget): Promise<void> {
  it.faults.clear(it.serviceCode);
  if (it.resolver !== undefined) it.resolver.isKnown = true;
  await it.proxy.restore();
}

/** Injects a fault of the simulator. */
export function injectSimulatorFault(fault: FaultRequest): FaultAction {
  return ({ faults, serviceCode }) => faults.set({ ...fault, serviceCode });
}

function handleRequestsWith(script: RequestScript): FaultAction {
  return ({ proxy }) => {
    proxy.onRequest = script;
  };
}

/** Sends these parts for each request, and leaves the connection open. */
export function respondWith(...parts: readonly (string | Buffer)[]): FaultAction {
  return handleRequestsWith((connection) => connection.write(concatParts(parts)));
}

/**
 * Sends these parts for each request, and resets the connection after they have arrived, which the RST could
 * overtake.
 */
export function respondAndReset(...parts: readonly (string | Buffer)[]): FaultAction {
  return handleRequestsWith((connection) => {
    connection.write(concatParts(parts), () => setImmediate(resetConnection, connection));
  });
}

/** Sends these parts for each request, and closes the connection. */
export function respondAndClose(...parts: readonly (string | Buffer)[]): FaultAction {
  return handleRequestsWith((connection) => connection.end(concatParts(parts)));
}

/** Sends the first part, and then `piece` without end, as fast as the client reads. */
export function respondEndlessly(first: string, piece: Buffer): FaultAction {
  return handleRequestsWith((connection) => {
    connection.write(first);
    writeUntilClosed(connection, piece);
  });
}

function writeUntilClosed(connection: Duplex, piece: Buffer): void {
  while (!connection.destroyed && connection.write(piece)) continue;
  if (!connection.destroyed) connection.once('drain', () => writeUntilClosed(connection, piece));
}

/** Formats the head of a response. */
export function formatHead(...headers: readonly string[]): string {
  return ['HTTP/1.1 200 OK', 'content-type: application/json', ...headers, '', ''].join('\r\n');
}

/** Answers each request with this body and its correct length. */
export function respondWithBody(body: string | Buffer, ...headers: readonly string[]): FaultAction {
  const bytes = Buffer.from(body);
  return respondWith(formatHead(`content-length: ${bytes.length}`, ...headers), bytes);
}

/** Answers each request with another status. */
export function respondWithStatus(status: number, body: string, ...headers: readonly string[]): FaultAction {
  return respondWith(formatStatusResponse(status, body, headers));
}

/** Answers each request with a status and a `Retry-After` that depends on the time. */
export function respondWithRetryAfter(status: number, valueAt: (nowMs: number) => string): FaultAction {
  return ({ proxy, clock }) => {
    proxy.onRequest = (connection) => {
      const retryAfter = `retry-after: ${valueAt(clock.now())}`;
      connection.write(formatStatusResponse(status, JSON.stringify({ ret: status }), [retryAfter]));
    };
  };
}

function formatStatusResponse(status: number, body: string, headers: readonly string[]): string {
  return [`HTTP/1.1 ${status} Whatever`, `content-length: ${body.length}`, ...headers, '', body].join('\r\n');
}

function concatParts(parts: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}
