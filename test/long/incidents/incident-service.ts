import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { readIdentity } from '../../support/fixtures.ts';
import { serveHttp, serveHttps } from '../../support/servers.ts';

/** The bytes that a task receives between two listings: 4 Mbit/s if they are a second apart. */
const GROWTH_BYTES = 500_000;
/** Two of ten tasks have names. Their servers run three and seven tasks. */
const NAMES = ['main', 'backup', ...Array.from({ length: 8 }, (_, index) => `task-${index}`)];
const SERVERS = ['s1', 's2', 's1', 's1', 's2', 's2', 's2', 's2', 's2', 's2'];
const USERS = Array.from({ length: 25 }, () => ({ vs_id: 's1', client_version: '1', device_type: '1' }));

/** What the service does with the requests for a service code. */
export interface Fault {
  /** Closes the connection. */
  readonly isRefused?: boolean;
  /** Rejects the request. */
  readonly ret?: number;
  /** How far the `Date` of a response is behind. */
  readonly clockOffsetMs?: number;
  /** Sends so much white space. */
  readonly bytes?: number;
  /** The listing has nothing. */
  readonly isEmpty?: boolean;
  /** Tasks that are not listed. */
  readonly gone?: readonly string[];
  /** Tasks that receive and deliver nothing. */
  readonly silent?: readonly string[];
}

/** All tasks of a service code. */
export const ALL_TASKS: readonly string[] = NAMES;

/** A service without churn: every code has the same tasks and users, and the fault that is set for it. */
export class IncidentService {
  readonly #faults = new Map<string, Fault>();
  readonly #bytes = new Map<string, number>();
  url = '';
  /** A URL whose certificate has expired. */
  urlWithExpiredCertificate = '';

  /** Serves until the end of the test. */
  static async start(t: TestContext): Promise<IncidentService> {
    const service = new IncidentService();
    const respond: RequestListener = (request, response) => service.#respond(request, response);
    service.url = await serveHttp(t, respond);
    const url = await serveHttps(t, readIdentity('expired'), respond);
    service.urlWithExpiredCertificate = url.replace('127.0.0.1', 'localhost');
    return service;
  }

  /** Sets the fault of service codes, or clears it. */
  setFault(codes: readonly string[], fault: Fault = {}): void {
    for (const code of codes) this.#faults.set(code, fault);
  }

  #respond(request: IncomingMessage, response: ServerResponse): void {
    const code = new URL(request.url ?? '', 'http://service').searchParams.get('service_code') ?? '';
    const fault = this.#faults.get(code) ?? {};
    if (fault.isRefused) {
      request.socket.destroy();
      return;
    }
    response.setHeader('date', new Date(Date.now() - (fault.clockOffsetMs ?? 0)).toUTCString());
    if (fault.bytes !== undefined) response.end(' '.repeat(fault.bytes));
    else response.end(JSON.stringify(this.#list(code, fault)));
  }

  #list(code: string, { ret = 0, isEmpty = false, gone = [], silent = [] }: Fault): object {
    if (ret !== 0 || isEmpty) return { ret, user_list: [], task_list: [] };
    const tasks = NAMES.flatMap((name, index) => {
      const id = `${code}-${name}`;
      const bytes = (this.#bytes.get(id) ?? 0) + (silent.includes(name) ? 0 : GROWTH_BYTES);
      this.#bytes.set(id, bytes);
      const output = {
        format: 'flv',
        file_name: name,
        http_output_bytes: bytes,
        http_connections_num: 2,
        streams: [],
      };
      const opaque = encodeURIComponent(JSON.stringify({ room: name }));
      const task = {
        id,
        vs_id: SERVERS[index],
        progress: 0,
        opaque,
        input_bytes: bytes,
        inputs: [],
        outputs: [output],
      };
      return gone.includes(name) ? [] : [task];
    });
    return { ret, user_list: USERS, task_list: tasks };
  }
}
