import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { request, type Agent, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Program, PROGRAM_PATH, SETTINGS } from '../../support/program.ts';
import { SHIPPED } from '../../support/shipped.ts';

/** Addresses of different clients. All addresses of 127.0.0.0/8 belong to this machine. */
const SCRAPER_ADDRESS = '127.0.0.1';
const ATTACKER_ADDRESS = '127.0.0.2';

const MINIMAL_REQUEST = 'GET / HTTP/1.1\r\nHost:\r\n\r\n';
/** 64 KiB of requests. */
export const PIPELINED = MINIMAL_REQUEST.repeat(65_536 / MINIMAL_REQUEST.length);

interface RequestOptions {
  readonly path?: string;
  readonly localAddress?: string;
  readonly authorization?: string;
  readonly isGzipped?: boolean;
  readonly agent?: Agent;
}

interface Answer {
  /** 0 if the connection ended without a response. */
  readonly status: number;
  readonly body: string;
}

/** The built program, with clients that send requests to it. */
export class AttackedExporter implements AsyncDisposable {
  readonly program: Program;
  readonly port: number;
  readonly #sockets = new Set<Socket>();

  private constructor(program: Program, port: number) {
    this.program = program;
    this.port = port;
  }

  /**
   * Starts the program as shipped. Unless the environment names a service, nothing listens at its address.
   */
  static async start(environment: Readonly<Record<string, string>> = {}): Promise<AttackedExporter> {
    const program = new Program(process.execPath, [...SHIPPED.nodeFlags, PROGRAM_PATH], {
      ...SETTINGS,
      ...environment,
    });
    return new AttackedExporter(program, await program.waitForPort());
  }

  /** Opens a connection that ignores its end; disposal closes it. */
  async open(localAddress = ATTACKER_ADDRESS): Promise<Socket> {
    const socket = connect({ host: '127.0.0.1', port: this.port, localAddress }).on('error', () => undefined);
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    await nextEvent(socket, 'connect');
    return socket;
  }

  /**
   * Sends one GET request, by default for `/metrics` and on a new connection. Rejects if the program has
   * ended.
   */
  async get({
    path = '/metrics',
    localAddress = SCRAPER_ADDRESS,
    authorization,
    isGzipped = false,
    agent,
  }: RequestOptions = {}): Promise<Answer> {
    try {
      const outgoing = request({
        host: '127.0.0.1',
        port: this.port,
        path,
        localAddress,
        agent: agent ?? false,
        headers: {
          ...(authorization !== undefined && { authorization }),
          'accept-encoding': isGzipped ? 'gzip' : 'identity',
        },
      }).end();
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
      return { status: response.statusCode ?? 0, body: (await buffer(response)).toString() };
    } catch {
      if (this.program.hasEnded) throw new Error(`The program has ended:\n${this.program.stderr}`);
      return { status: 0, body: '' };
    }
  }

  get descriptorCount(): number {
    return readdirSync(`/proc/${this.program.pid}/fd`).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await this.program[Symbol.asyncDispose]();
  }
}

/**
 * Waits for an event, or the end. Unlike `once`, ignores errors, because the exporter may reset connections.
 */
export function nextEvent(socket: Socket, name: 'close' | 'connect' | 'data'): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once(name, () => resolve()).once('close', () => resolve());
  });
}

/** Formats a GET request. */
export function formatRequest(path = '/metrics', authorization?: string): string {
  const header = authorization === undefined ? '' : `Authorization: ${authorization}\r\n`;
  return `GET ${path} HTTP/1.1\r\nHost: x\r\n${header}\r\n`;
}
