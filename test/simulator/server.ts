import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock, type Clock } from '../../src/runtime/clock.ts';
import {
  authenticate,
  RET_CODES,
  parseServiceCode,
  TASK_LIST_PATH,
  type AuthenticationOptions,
} from './authentication.ts';
import { createEmptyListing, sendResponse } from './responses.ts';
import { FAULTS_PATH, handleFaultRequest } from './control.ts';
import { FaultRegistry } from './faults.ts';
import type { World } from './world.ts';

export interface SimulatorOptions {
  readonly world: World;
  readonly secretsByServiceCode: ReadonlyMap<string, string>;
  /** By default a free port of 127.0.0.1. */
  readonly listenAddress?: { readonly host: string; readonly port: number };
  readonly clock?: Clock;
  /**
   * The largest accepted difference between a timestamp and the clock; 0 accepts any. By default 5 minutes.
   */
  readonly clockToleranceMs?: number;
}

/** A running simulator. Disposing of it closes all connections. */
export interface Simulator extends AsyncDisposable {
  /** The address as a `base_url`, without a slash at its end. */
  readonly url: string;
  readonly faults: FaultRegistry;
  /** The number of requests of `task_list`, whatever their response. */
  readonly requestCount: number;
}

/**
 * Starts a simulator, whose faults clients can change, on an HTTP address. Rejects if it cannot listen there.
 */
export async function startSimulator({
  world,
  secretsByServiceCode,
  listenAddress = { host: '127.0.0.1', port: 0 },
  clock = systemClock,
  clockToleranceMs = 5 * 60_000,
}: SimulatorOptions): Promise<Simulator> {
  const faults = new FaultRegistry(clock);
  const context = { world, secretsByServiceCode, clock, clockToleranceMs, faults };
  let requestCount = 0;
  const server = createServer((request, response) => {
    const [path = '', rawQuery = ''] = (request.url ?? '').split(/\?(.*)/s, 2);
    let handled: Promise<void> | undefined;
    if (path === FAULTS_PATH) {
      handled = handleFaultRequest(faults, request, response);
    } else if (path !== TASK_LIST_PATH) {
      response.writeHead(404).end('Not Found\n');
    } else if (request.method !== 'GET') {
      response.writeHead(405, { allow: 'GET' }).end('Method Not Allowed\n');
    } else {
      requestCount += 1;
      handled = handleTaskList(context, rawQuery, request, response);
    }
    // Disconnects are normal. Any other error shows to the client as a broken connection.
    handled?.catch(() => response.destroy());
  });
  server.listen(listenAddress);
  await once(server, 'listening');
  return {
    url: formatUrl(server),
    faults,
    get requestCount() {
      return requestCount;
    },
    [Symbol.asyncDispose]: async () => {
      const closed = server[Symbol.asyncDispose]();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function handleTaskList(
  context: AuthenticationOptions & { readonly world: World; readonly faults: FaultRegistry },
  rawQuery: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { world, clock, faults } = context;
  const serviceCode = parseServiceCode(rawQuery);
  const fault = faults.getResponseFault(serviceCode);
  const skewMs = fault?.fault === 'clock_skew' ? fault.ms : 0;
  response.setHeader('date', new Date(clock.now() + skewMs).toUTCString());
  const ret = authenticate(context, rawQuery, request.headers, skewMs);
  const nowMs = clock.now();
  const members =
    ret === RET_CODES.ok && serviceCode !== undefined
      ? {
          ret,
          user_list: world.users(serviceCode, nowMs),
          task_list: world.tasks(serviceCode, nowMs, faults.listFreezes()),
        }
      : createEmptyListing(ret);
  const canGzip = /\bgzip\b/.test(String(request.headers['accept-encoding']));
  await sendResponse({ response, clock, canGzip, members }, fault);
}

function formatUrl(server: Server): string {
  const { family, address, port }: AddressInfo = Object(server.address());
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
