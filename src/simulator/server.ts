import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import Negotiator from 'negotiator';
import { authenticate, RET_CODES, parseServiceCode, type AuthenticationOptions } from './authentication.ts';
import { createEmptyListing, sendResponse } from './responses.ts';
import { handleControlRequest, CONTROL_PREFIX } from './control.ts';
import { FaultRegistry } from './faults.ts';
import type { World } from './world.ts';
import { TASK_LIST_PATH } from '../upstream/signing.ts';

export interface SimulatorOptions extends AuthenticationOptions {
  /** Port 0 selects a free port. */
  readonly listenAddress: { readonly host: string; readonly port: number };
  readonly world: World;
  /** If set, responses are compressed for clients that accept gzip. */
  readonly isGzipEnabled: boolean;
  /** If set, the simulator serves `/-/faults` and `/-/totals`. */
  readonly isControlApiEnabled?: boolean;
}

/** A running simulator. Disposing of it closes all connections. */
export interface Simulator extends AsyncDisposable {
  /** The address as a `base_url`, without a slash at its end. */
  readonly url: string;
  readonly faults: FaultRegistry;
  /** The number of requests of `task_list`, whatever their response. */
  readonly requestCount: number;
}

/** Starts a simulator on an HTTP address. Rejects if it cannot listen there. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const faults = new FaultRegistry(options.clock);
  let requestCount = 0;
  const server = createServer((request, response) => {
    const [path = '', rawQuery = ''] = (request.url ?? '').split(/\?(.*)/s, 2);
    let handled: Promise<void> | undefined;
    if (options.isControlApiEnabled === true && path.startsWith(CONTROL_PREFIX)) {
      handled = handleControlRequest({ ...options, faults }, request, response);
    } else if (path !== TASK_LIST_PATH) {
      response.writeHead(404).end('Not Found\n');
    } else if (request.method !== 'GET') {
      response.writeHead(405, { allow: 'GET' }).end('Method Not Allowed\n');
    } else {
      requestCount += 1;
      handled = handleTaskList(options, faults, rawQuery, request, response);
    }
    // Disconnects are normal. Any other error shows to the client as a broken connection.
    handled?.catch(() => response.destroy());
  });
  server.listen(options.listenAddress);
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
  options: SimulatorOptions,
  faults: FaultRegistry,
  rawQuery: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { world, clock, isGzipEnabled } = options;
  const serviceCode = parseServiceCode(rawQuery);
  const fault = faults.getResponseFault(serviceCode);
  const skewMs = fault?.fault === 'clock_skew' ? fault.ms : 0;
  const ret = authenticate(options, rawQuery, request.headers, skewMs);
  const nowMs = clock.now();
  const members =
    ret === RET_CODES.ok && serviceCode !== undefined
      ? {
          ret,
          user_list: world.users(serviceCode, nowMs),
          task_list: world.tasks(serviceCode, nowMs, faults.listFreezes()),
        }
      : createEmptyListing(ret);
  const canGzip = isGzipEnabled && new Negotiator(request).encodings(['gzip']).length > 0;
  await sendResponse({ response, clock, canGzip, members }, fault);
}

function formatUrl(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Expected a TCP address');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
