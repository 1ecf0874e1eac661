import type { IncomingMessage } from 'node:http';
import type { RequestRejectionReason, WebMetrics } from '../../metrics/exposition/web-metrics.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Connection } from '../connections.ts';
import { isProbe, respondText, type WebResponse } from '../http-messages.ts';
import { QueueFullError } from '../request-queue.ts';
import { PasswordVerifier, type Credentials } from './password-verifier.ts';
import type { WebConfiguration } from './web-configuration-file.ts';

/** A request and the connection that it came on. */
interface ReceivedRequest {
  readonly request: Pick<IncomingMessage, 'url' | 'headers'>;
  readonly connection: Pick<Connection, 'client' | 'isCertificateRejected'>;
}

export interface AuthorizerOptions {
  /** Whether probes bypass authorization. */
  readonly hasOpenProbes: boolean;
  readonly metrics: WebMetrics;
  readonly logger: Logger;
}

/** Returns the response that rejects a request; `undefined` if it is authorized. */
export type Authorize = (
  received: ReceivedRequest,
  configuration: WebConfiguration,
) => Promise<WebResponse | undefined>;

const BASIC = /^basic ([A-Za-z0-9+/]+={0,2})$/i;

/** Checks the client certificate, then the password. */
export function createAuthorizer({ hasOpenProbes, metrics, logger }: AuthorizerOptions): Authorize {
  const passwords = new PasswordVerifier();

  /** Resolves to `undefined` if the password was not compared. */
  const verify = async (
    { request, connection }: ReceivedRequest,
    users: ReadonlyMap<string, string>,
  ): Promise<boolean | undefined> => {
    const credentials = parseBasicCredentials(request.headers.authorization);
    if (credentials === undefined) return false;
    try {
      return await passwords.verify(credentials, users, connection.client);
    } catch (err) {
      if (!(err instanceof QueueFullError)) logger.error({ err }, 'Password verification failed');
      return undefined;
    }
  };
  const reject = (
    reason: RequestRejectionReason,
    ...response: Parameters<typeof respondText>
  ): WebResponse => {
    metrics.recordRequestRejected(reason);
    return respondText(...response);
  };
  return async (received, { users }) => {
    if (hasOpenProbes && isProbe(received.request.url ?? '/')) return undefined;
    if (received.connection.isCertificateRejected)
      return reject('client_certificate', 403, 'A valid client certificate is required.');
    if (users.size === 0) return undefined;
    const isValid = await verify(received, users);
    if (isValid === true) return undefined;
    if (isValid === undefined)
      return reject('password_queue', 503, 'Too many pending password checks.', { 'Retry-After': '1' });
    return reject('unauthorized', 401, 'Unauthorized.', {
      'WWW-Authenticate': 'Basic realm="xvs-exporter", charset="UTF-8"',
    });
  };
}

/** Parses an `Authorization` header (RFC 7617, in UTF-8); passwords may contain colons. */
function parseBasicCredentials(header: string | undefined): Credentials | undefined {
  const encoded = BASIC.exec(header ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
