import { z } from 'zod';
import { Child } from './child.ts';

const SERVED_RESPONSE = z.object({ url: z.string(), bytes: z.number() });

/** A body that another process serves. */
export interface ServedBody extends AsyncDisposable {
  readonly url: string;
  readonly megabytes: number;
}

/** The number of records of a body. */
export interface BodySize {
  readonly users: number;
  readonly tasks: number;
}

/** Starts a process that serves a listing from memory, on loopback. */
export async function serveBody(
  { users, tasks }: BodySize,
  bodies: 'one' | 'alternating' = 'one',
): Promise<ServedBody> {
  const server = await Child.start('serving-body', { args: [String(users), String(tasks), bodies] });
  const { url, bytes } = await server.sendCommand('address', SERVED_RESPONSE);
  return { url, megabytes: bytes / 1e6, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/**
 * Creates the settings of an exporter that polls one service code at `baseUrl` and listens on a free port.
 */
export function createExporterEnv(baseUrl: string): Readonly<Record<string, string>> {
  return {
    XVS_UPSTREAM_BASE_URL: baseUrl,
    XVS_SERVICE_CODES: 'T',
    XVS_SECRET: 'abc',
    XVS_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
  };
}
