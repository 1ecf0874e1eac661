import { once } from 'node:events';
import {
  createServer as createHttpServer,
  request as sendOn,
  type RequestListener,
  type Server as HttpServer,
} from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import type { TestContext } from 'node:test';

/** Starts a server on a free port of 127.0.0.1, and closes it and its connections after the test. */
export async function listen(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    for (const socket of sockets) {
      socket.destroy();
    }
    server.close();
    await once(server, 'close');
  });
  return portOf(server);
}

export async function serveHttp(t: TestContext, answer: RequestListener): Promise<string> {
  const server: HttpServer = createHttpServer(answer);
  return `http://127.0.0.1:${await listen(t, server)}`;
}

export async function serveHttps(
  t: TestContext,
  options: ServerOptions,
  answer: RequestListener,
): Promise<string> {
  const server = createHttpsServer(options, answer).on('tlsClientError', () => undefined);
  return `https://127.0.0.1:${await listen(t, server)}`;
}

/** A server on bare sockets, which calls `answer` when the head of a request has arrived. */
export async function serveRaw(
  t: TestContext,
  answer: (socket: Socket, request: { readonly head: string; readonly ordinal: number }) => void,
): Promise<string> {
  let ordinal = 0;
  const server = createTcpServer((socket) => {
    let head = '';
    socket.setEncoding('latin1').on('data', (text) => {
      head += String(text);
      if (head.endsWith('\r\n\r\n')) {
        ordinal += 1;
        answer(socket, { head, ordinal });
        head = '';
      }
    });
  });
  return `http://127.0.0.1:${await listen(t, server)}`;
}

export interface Proxy {
  readonly url: string;
  /** Method and target of what it was asked for, and the credentials. */
  readonly seen: string[];
}

/** A forward proxy: absolute form for http, tunnels for https. */
export async function serveProxy(t: TestContext): Promise<Proxy> {
  const seen: string[] = [];
  const proxy = createHttpServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? '-'}`);
    sendOn(request.url ?? '', { headers: request.headers }, (inner) => inner.pipe(response)).end();
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

/** Resolves when a connection is closed, however it ended. */
export async function closeOf(socket: Socket): Promise<void> {
  await new Promise((resolve) => socket.resume().on('close', resolve));
}

/** A port of 127.0.0.1 on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

function portOf(server: Server): number {
  const address = server.address() as AddressInfo;
  return address.port;
}
