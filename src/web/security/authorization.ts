import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { RequestRejectionReason, WebMetrics } from '../../metrics/web-metrics.ts';
import { MAX_WAITING_PASSWORDS } from '../../runtime/limits.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Connection } from '../connections.ts';
import { isProbe, respondText, type WebResponse } from '../http-messages.ts';
import { QueueFullError, RequestQueue } from '../request-queue.ts';
import { importBcrypt, type ComparePassword, type WebConfiguration } from './web-configuration-file.ts';

export interface AuthorizerOptions {
  /** Random bytes that protect passwords in the cache. */
  readonly passwordKey: Buffer;
  readonly hasOpenProbes: boolean;
  readonly metrics: WebMetrics;
  readonly logger: Logger;
}

/** Returns the response that rejects a request; `undefined` if it is authorized. */
export type Authorize = (
  request: Pick<IncomingMessage, 'url' | 'headers'>,
  connection: Pick<Connection, 'client' | 'isCertificateRejected'>,
  users: WebConfiguration['users'],
) => Promise<WebResponse | undefined>;

const BASIC = /^basic ([A-Za-z0-9+/]+={0,2})$/i;

/** Checks the client certificate, then the password. */
export function createAuthorizer({
  passwordKey,
  hasOpenProbes,
  metrics,
  logger,
}: AuthorizerOptions): Authorize {
  const passwords = new PasswordVerifier(passwordKey);
  const reject = (
    reason: RequestRejectionReason,
    ...response: Parameters<typeof respondText>
  ): WebResponse => {
    metrics.recordRequestRejected(reason);
    return respondText(...response);
  };
  return async (request, connection, users) => {
    if (hasOpenProbes && isProbe(request.url ?? '/')) return undefined;
    if (connection.isCertificateRejected)
      return reject('client_certificate', 403, 'A valid client certificate is required.');
    if (users.size === 0) return undefined;
    const credentials = parseBasicCredentials(request.headers.authorization);
    try {
      const isValid = credentials && (await passwords.verify(credentials, users, connection.client));
      if (isValid === true) return undefined;
    } catch (err) {
      if (!(err instanceof QueueFullError)) logger.error({ err }, 'Password verification failed');
      return reject('password_queue', 503, 'Too many pending password checks.', { 'Retry-After': '1' });
    }
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

interface Credentials {
  readonly user: string;
  readonly password: string;
}

/** More than there are users, so that a changed password fits too. */
const MAX_CACHED_VALID = 128;
/** Valid passwords are also cached apart, so that guesses cannot evict them. */
const MAX_CACHED_INVALID = 1024;

/** Salt and hash for users that do not exist. */
const DUMMY_SALT_AND_HASH = 'QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi';

/**
 * Verifies passwords, one comparison at a time. Caches results as keyed digests of user, hash and password:
 * bcrypt must not slow down each scrape, and a new hash is compared again. Users that do not exist take as
 * long as the user with the cheapest hash.
 */
export class PasswordVerifier {
  readonly #compare: ComparePassword;
  readonly #digestKey: Buffer;
  readonly #valid = new LRUCache<string, boolean>({ max: MAX_CACHED_VALID });
  /** Comparisons by digest, those that run or wait included: requests with the same password share one. */
  readonly #comparisons = new LRUCache<string, Promise<boolean>>({ max: MAX_CACHED_INVALID });
  readonly #queue = new RequestQueue({ maxRunning: 1, maxWaiting: MAX_WAITING_PASSWORDS });

  constructor(digestKey: Buffer, compare: ComparePassword = compareWithBcrypt) {
    this.#digestKey = digestKey;
    this.#compare = compare;
  }

  /** Rejects with a `QueueFullError` if too many wait. `users` are hashes by name, `client` is a network. */
  async verify(
    { user, password }: Credentials,
    users: ReadonlyMap<string, string>,
    client: string,
  ): Promise<boolean> {
    // The steps up to a cached result are the same for every user, so that their time tells nothing.
    const dummyHash = createDummyHash(users);
    const userHash = users.get(user);
    const hash = userHash ?? dummyHash;
    const digest = this.#digest(user, hash, password);
    const known = this.#valid.get(digest) ?? this.#comparisons.get(digest);
    if (known !== undefined) return await known;
    const comparison = this.#queue.run(client, async () => {
      const isValid = (await this.#compare(password, hash)) && userHash !== undefined;
      if (isValid) this.#valid.set(digest, isValid);
      return isValid;
    });
    this.#comparisons.set(digest, comparison);
    comparison.catch(() => this.#comparisons.delete(digest));
    return await comparison;
  }

  #digest(...parts: readonly string[]): string {
    return createHmac('sha256', this.#digestKey).update(JSON.stringify(parts)).digest('base64');
  }
}

/**
 * Creates a hash of the lowest cost of all users: a costly one must not let others occupy the queue for
 * seconds.
 */
function createDummyHash(users: ReadonlyMap<string, string>): string {
  const [cost = '10'] = [...users.values()].map((hash) => hash.slice(4, 6)).toSorted();
  return `$2y$${cost}$${DUMMY_SALT_AND_HASH}`;
}

/** Runs in libuv's thread pool. The process cannot cancel it nor exit before it ends: hence the limits. */
async function compareWithBcrypt(password: string, hash: string): Promise<boolean> {
  const { verify } = await importBcrypt();
  return await verify(password, hash);
}
