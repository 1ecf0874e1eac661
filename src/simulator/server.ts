import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import { admit, retCodes, serviceCodeOf, taskListPath, type Admission } from './admission.ts';
import { answer, answerWrongly, emptyAnswer, type Call } from './answer.ts';
import type { Member } from './body.ts';
import { control, controlPrefix } from './control.ts';
import { createFaultBoard, type FaultBoard } from './faults.ts';
import type { World } from './world.ts';

export interface SimulatorOptions {
  /** Port 0 takes a free one. */
  readonly listen: { readonly host: string; readonly port: number };
  readonly world: World;
  /** The service codes that are known, each with its shared secret. */
  readonly codes: ReadonlyMap<string, string>;
  readonly clock: Clock;
  /** How far a timestamp may be from the clock; 0 accepts any. */
  readonly clockToleranceMs: number;
  /** Whether callers that accept gzip get it. */
  readonly gzip: boolean;
  /** Whether `/-/faults` and `/-/account` are there. */
  readonly control?: boolean;
}

/** The simulated service, running. Disposing of it cuts all connections. */
export interface Simulator extends AsyncDisposable {
  /** Where it listens, without a slash at the end: a `base_url`. */
  readonly url: string;
  readonly faults: FaultBoard;
  /** Calls of `task_list` so far, however they were answered. */
  readonly served: number;
}

/** Starts the service of the interface on an HTTP address. Rejects if it cannot listen there. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const service = new Service(options);
  const server = createServer((request, response) => {
    // A caller that leaves before the end is nothing to report; whatever else went wrong, it learns so too.
    service.handle(request, response).catch(() => response.destroy());
  });
  server.listen(options.listen.port, options.listen.host);
  await once(server, 'listening');
  return {
    url: urlOf(server),
    faults: service.faults,
    get served() {
      return service.served;
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Routes calls and counts them. */
class Service {
  readonly faults: FaultBoard;
  served = 0;
  readonly #options: SimulatorOptions;
  readonly #admission: Admission;

  constructor(options: SimulatorOptions) {
    this.#options = options;
    this.#admission = { ...options, secrets: options.codes };
    this.faults = createFaultBoard(options.clock);
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = request.url ?? '';
    const [path = ''] = target.split('?', 1);
    if (this.#options.control === true && path.startsWith(controlPrefix)) {
      await control({ ...this.#options, faults: this.faults }, request, response);
    } else if (path !== taskListPath) {
      sendPlain(response, 404, 'Not Found');
    } else if (request.method !== 'GET') {
      sendPlain(response.setHeader('allow', 'GET'), 405, 'Method Not Allowed');
    } else {
      this.served += 1;
      await this.#answer(request, response, target.slice(path.length + 1));
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse, rawQuery: string): Promise<void> {
    const serviceCode = serviceCodeOf(rawQuery);
    const fault = this.faults.responseFault(serviceCode);
    const skewMs = fault?.fault === 'clock_skew' ? fault.ms : 0;
    const ret = admit(this.#admission, rawQuery, request.headers, skewMs);
    const call: Call = {
      response,
      clock: this.#options.clock,
      gzip: this.#options.gzip && acceptsGzip(request),
      members:
        ret === retCodes.ok && serviceCode !== undefined ? this.#listing(serviceCode) : emptyAnswer(ret),
    };
    await (fault === undefined ? answer(call) : answerWrongly(call, fault));
  }

  #listing(serviceCode: string): readonly Member[] {
    const { world, clock } = this.#options;
    const nowMs = clock.now();
    return [
      { name: 'ret', json: String(retCodes.ok) },
      { name: 'user_list', records: world.users(serviceCode, nowMs) },
      { name: 'task_list', records: world.tasks(serviceCode, nowMs, this.faults.freezes()) },
    ];
  }
}

/** True where `Accept-Encoding` names gzip with a weight other than 0 (RFC 9110, section 12.5.3). */
function acceptsGzip(request: IncomingMessage): boolean {
  const codings = (request.headers['accept-encoding'] ?? '').toLowerCase().split(',');
  return codings.some((coding) => /^\s*gzip\s*(?:;|$)/.test(coding) && !/;\s*q=0(?:\.0*)?\s*$/.test(coding));
}

function sendPlain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(`${text}\n`);
}

function urlOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Expected a TCP address');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
