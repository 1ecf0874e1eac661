import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { request, type RequestOptions as HttpRequestOptions } from 'node:http';
import { request as requestTls } from 'node:https';
import type { RequestOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type {
  ConnectionCloseReason,
  RequestRejectionReason,
  WebMetrics,
} from '../../../src/metrics/web-metrics.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { LOCAL_FILE_SYSTEM } from '../../../src/config/file-system.ts';
import { createLogger } from '../../../src/runtime/logger.ts';
import { respondText } from '../../../src/web/http-messages.ts';
import { openWebConfiguration } from '../../../src/web/security/web-configuration.ts';
import { startWebServer } from '../../../src/web/server.ts';
import type { WebServer, WebServerOptions } from '../../../src/web/server.ts';
import { readFixture } from '../../support/fixtures.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const HOST = '127.0.0.1';
const CERTIFICATE_FOLDER = fileURLToPath(new URL('../../../../test/fixtures/tls/', import.meta.url));

/** `open: sesame`, at the lowest cost. */
export const PASSWORD = 'open: sesame';
export const HASH = '$2b$04$7i8OQSJcqT1Az/Pkdqb4q.PNoLfiJ74b9h6AYFzvNHAMyF4DoMwMq';

/** The server certificate, as keys of a web configuration. */
export const SERVER_CERTIFICATE = 'cert_file: server.pem, key_file: server.key';

/** Formats the value of an `Authorization` header. */
export function basicAuthorization(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** Creates a folder with the test certificates that is removed after the test. */
export function certificateFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'xvs-web-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of readdirSync(CERTIFICATE_FOLDER))
    copyFileSync(join(CERTIFICATE_FOLDER, name), join(folder, name));
  return folder;
}

/** Metrics of the web server that a test can read. */
export class RecordedWebMetrics implements WebMetrics {
  connections = 0;
  readonly closed: ConnectionCloseReason[] = [];
  readonly rejected: RequestRejectionReason[] = [];
  certificateNotAfterMs: number | undefined;

  addConnections(change: number): void {
    this.connections += change;
  }

  recordConnectionClosed(reason: ConnectionCloseReason): void {
    this.closed.push(reason);
  }

  recordRequestRejected(reason: RequestRejectionReason): void {
    this.rejected.push(reason);
  }

  setCertificateNotAfter(notAfterMs: number): void {
    this.certificateNotAfterMs = notAfterMs;
  }
}

/** A web server on a free port with a web configuration and a manual clock. */
export interface SecuredServer {
  readonly server: WebServer;
  readonly port: number;
  readonly clock: ManualClock;
  readonly metrics: RecordedWebMetrics;
  readonly lines: string[];
  readonly folder: string;
  /** Replaces the web configuration, or another file in its folder, and checks for changes. */
  write(this: void, text: string, name?: string): Promise<void>;
}

export async function startSecuredServer(
  t: TestContext,
  yml: string,
  overrides: Partial<WebServerOptions> = {},
): Promise<SecuredServer> {
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
  const source = await openWebConfiguration(path, LOCAL_FILE_SYSTEM, systemClock, logger);
  const metrics = new RecordedWebMetrics();
  lines.length = 0;
  const server = await startWebServer({
    passwordKey: Buffer.alloc(32),
    addresses: [{ host: HOST, port: 0 }],
    handle: ({ url }) => Promise.resolve(respondText(200, `hello from ${url}`)),
    maxRequests: 40,
    metrics,
    webConfigurationSource: source,
    hasOpenProbes: false,
    clock,
    logger,
    ...overrides,
  });
  t.after(async () => {
    const closed = server[Symbol.asyncDispose]();
    // Open connections have this long to finish their requests.
    clock.advance(5000);
    await closed;
  });
  const port = server.addresses[0]?.port ?? Number.NaN;
  const write = async (text: string, name = 'web.yml'): Promise<void> => {
    writeFileSync(join(folder, name), text);
    await source.check();
  };
  return { server, port, clock, metrics, lines, folder, write };
}

export interface ReceivedResponse {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Sends an HTTP request on a connection of its own. */
export async function requestOverHttp(
  port: number,
  path = '/',
  options: HttpRequestOptions = {},
): Promise<ReceivedResponse> {
  return await readResponse(request({ host: HOST, port, path, agent: false, ...options }).end());
}

/** Sends an HTTPS request that trusts the test CA only. */
export async function requestOverHttps(
  port: number,
  path = '/',
  options: RequestOptions = {},
): Promise<ReceivedResponse> {
  const ca = readFixture('tls/ca.pem');
  const outgoing = requestTls({ host: HOST, port, path, ca, agent: false, ...options }).end();
  return await readResponse(outgoing);
}

/** Reads the response to a request. */
export async function readResponse(outgoing: ReturnType<typeof request>): Promise<ReceivedResponse> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).once('error', reject);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(Buffer.from(chunk));
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() };
}
