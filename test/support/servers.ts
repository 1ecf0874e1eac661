import { once } from 'node:events';
import {
  createServer as createHttpServer,
  request as forward,
  type RequestListener,
  type Server as HttpServer,
} from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type ListenOptions,
  type Server,
  type Socket,
} from 'node:net';
import type { TestContext } from 'node:test';

/**
 * Starts a server, by default on a free port of 127.0.0.1, and returns the port. Closes it with its
 * connections after the test.
 */
export async function listen(
  t: TestContext,
  server: Server,
  address: ListenOptions = { port: 0, host: '127.0.0.1' },
): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.listen(address);
  await once(server, 'listening');
  t.after(async () => {
    for (const socket of sockets) {
      socket.destroy();
    }
    server.close();
    await once(server, 'close');
  });
  return getPort(server);
}

export async function serveHttp(t: TestContext, listener: RequestListener): Promise<string> {
  const server: HttpServer = createHttpServer(listener);
  return `http://127.0.0.1:${await listen(t, server)}`;
}

export async function serveHttps(
  t: TestContext,
  options: ServerOptions,
  listener: RequestListener,
): Promise<string> {
  const server = createHttpsServer(options, listener).on('tlsClientError', () => undefined);
  return `https://127.0.0.1:${await listen(t, server)}`;
}

/** Starts a TCP server that calls `respond` when the head of a request has arrived. */
export async function serveRaw(
  t: TestContext,
  respond: (socket: Socket, request: { readonly head: string; readonly ordinal: number }) => void,
): Promise<string> {
  let ordinal = 0;
  const server = createTcpServer((socket) => {
    let head = '';
    socket.setEncoding('latin1').on('data', (text) => {
      head += String(text);
      if (head.endsWith('\r\n\r\n')) {
        ordinal += 1;
        respond(socket, { head, ordinal });
        head = '';
      }
    });
  });
  return `http://127.0.0.1:${await listen(t, server)}`;
}

export interface Proxy {
  readonly url: string;
  /** Method, target and credentials of each request. */
  readonly seen: string[];
}

/** Starts a forward proxy with absolute form for http and tunnels for https. */
export async function serveProxy(t: TestContext): Promise<Proxy> {
  const seen: string[] = [];
  const proxy = createHttpServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? '-'}`);
    forward(request.url ?? '', { headers: request.headers }, (inner) => inner.pipe(response)).end();
  });
  proxy.on('connect', (request, socket: Socket) => {
    seen.push(`${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? '-'}`);
    const [host, port] = (request.url ?? '').split(':');
    const inner = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      inner.pipe(socket).pipe(inner);
    });
    inner.on('error', () => socket.destroy());
    socket.on('error', () => inner.destroy()).on('close', () => inner.destroy());
  });
  return { url: `http://127.0.0.1:${await listen(t, proxy)}`, seen };
}

/**
 * Waits for an event of a connection, and returns its first argument. Rejects if the connection ends before
 * it.
 */
export async function waitForEvent(socket: Socket, name: 'data' | 'secureConnect'): Promise<unknown> {
  const ended = once(socket, 'close').then(() => {
    throw new Error(`Expected ${name}, found the end of the connection`);
  });
  const [value]: unknown[] = await Promise.race([once(socket, name), ended]);
  return value;
}

/** Resolves when a connection is closed. */
export async function waitForClose(socket: Socket): Promise<void> {
  await new Promise((resolve) => socket.resume().on('close', resolve));
}

/** Finds a port of 127.0.0.1 on which nothing listens. */
export async function findClosedPort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = getPort(server);
  server.close();
  await once(server, 'close');
  return port;
}

function getPort(server: Server): number {
  const address = server.address() as AddressInfo;
  return address.port;
}
