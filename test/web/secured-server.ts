import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import type { RequestOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createLogger } from '../../src/log.ts';
import { respondText } from '../../src/web/response.ts';
import { openWebConfiguration } from '../../src/web/config/web-configuration-source.ts';
import { startWebServer } from '../../src/web/server.ts';
import type { WebServer, WebServerOptions } from '../../src/web/server.ts';
import { fixture } from '../support/fixtures.ts';
import { ManualClock } from '../support/manual-clock.ts';

const HOST = '127.0.0.1';
const CERTIFICATES = fileURLToPath(new URL('../../../test/fixtures/tls/', import.meta.url));

/** `open: sesame`, at the lowest cost. */
export const PASSWORD = 'open: sesame';
export const HASH = '$2b$04$7i8OQSJcqT1Az/Pkdqb4q.PNoLfiJ74b9h6AYFzvNHAMyF4DoMwMq';

/** The certificate of the server, in a line of a web configuration. */
export const SERVER = 'cert_file: server.pem, key_file: server.key';

/** A folder with the certificates of the tests, gone after the test. */
export function certificateFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'xvs-web-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of readdirSync(CERTIFICATES)) copyFileSync(join(CERTIFICATES, name), join(folder, name));
  return folder;
}

/** A web server on a free port with a web configuration, whose time the test moves. */
export interface Guarded {
  readonly server: WebServer;
  readonly port: number;
  readonly clock: ManualClock;
  readonly lines: string[];
  readonly folder: string;
  /** Writes another web configuration, or another file beside it; it is looked at from now on. */
  write(this: void, text: string, name?: string): void;
}

export async function startGuarded(
  t: TestContext,
  yml: string,
  overrides: Partial<WebServerOptions> = {},
): Promise<Guarded> {
  const folder = certificateFolder(t);
  const path = join(folder, 'web.yml');
  writeFileSync(path, yml);
  const clock = new ManualClock(0);
  const lines: string[] = [];
  const logger = createLogger({
    level: 'debug',
    format: 'json',
    destination: { write: (line) => lines.push(line) },
  });
  const source = { path, readFile: (name: string) => readFile(name, 'utf8'), clock, logger };
  const server = await startWebServer({
    addresses: [{ host: HOST, port: 0 }],
    handle: ({ url }) => Promise.resolve(respondText(200, `hello from ${url}`)),
    maxRequests: 40,
    maxConnections: 64,
    guardedBy: await openWebConfiguration(source),
    opensProbes: false,
    clock,
    logger,
    ...overrides,
  });
  t.after(() => server[Symbol.asyncDispose]());
  const port = server.addresses[0]?.port ?? Number.NaN;
  const write = (text: string, name = 'web.yml'): void => {
    writeFileSync(join(folder, name), text);
    clock.advance(1000);
  };
  return { server, port, clock, lines, folder, write };
}

export interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A request by HTTPS from a client that trusts the tests' CA alone. */
export async function askSecurely(port: number, path = '/', options: RequestOptions = {}): Promise<Answer> {
  const ca = fixture('tls/ca.pem');
  const outgoing = request({ host: HOST, port, path, ca, agent: false, ...options }).end();
  return await answerTo(outgoing);
}

/** What comes back to a request that was sent. */
export async function answerTo(outgoing: ReturnType<typeof request>): Promise<Answer> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).once('error', reject);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(Buffer.from(chunk));
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() };
}

/** Certificate and key of a client, by the name of their files. */
export function clientCertificate(name: string): Pick<RequestOptions, 'cert' | 'key'> {
  return { cert: fixture(`tls/${name}.pem`), key: fixture(`tls/${name}.key`) };
}
