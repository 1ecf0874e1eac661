import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import { parseBasicCredentials } from './auth/basic-credentials.ts';
import { BcryptThread } from './auth/bcrypt-thread.ts';
import { PasswordCheck } from './auth/password-check.ts';
import type { WebConfiguration } from './config/web-configuration.ts';
import { RateLimiter } from './rate-limiter.ts';
import { respondText } from './response.ts';
import type { WebResponse } from './response.ts';
import { splitUrl } from './routes.ts';

/** What `opensProbes` opens: no more than these, whatever else may come below `/-/`. */
const PROBES: readonly string[] = ['/-/healthy', '/-/ready'];

/** What is known of who asks. */
interface Visit {
  readonly url: string;
  readonly authorization: string | undefined;
  /** Whether the client's certificate is refused. */
  readonly isStranger: boolean;
  /** Aborts when no one waits any more. */
  readonly signal: AbortSignal;
}

export interface GuardOptions {
  /** Answers probes without asking who sent them. */
  readonly opensProbes: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Judges requests by the web configuration that is in force. */
export interface Guard extends AsyncDisposable {
  /** The answer that refuses a request; undefined lets it in. */
  refuse(this: void, visit: Visit, configuration: WebConfiguration): Promise<WebResponse | undefined>;
}

/** A guard with nothing remembered. The order is that of the exporter-toolkit: first the rate, then who it is. */
export function createGuard({ opensProbes, clock, logger }: GuardOptions): Guard {
  const limiter = new RateLimiter();
  const thread = new BcryptThread(clock);
  const passwords = new PasswordCheck({ compare: (password, hash) => thread.compare(password, hash) });

  const verdictOf = async ({ authorization, signal }: Visit, users: ReadonlyMap<string, string>) => {
    const credentials = parseBasicCredentials(authorization);
    if (credentials === undefined) return 'wrong';
    try {
      return await passwords.check(credentials, users, signal);
    } catch (error) {
      logger.error(
        { error: error instanceof Error ? error.message : String(error) },
        'Password not compared',
      );
      return 'busy';
    }
  };
  return {
    async refuse(visit, { rateLimit, users }) {
      if (opensProbes && PROBES.includes(splitUrl(visit.url).path)) return undefined;
      if (!limiter.allows(rateLimit, clock.monotonic())) return respondText(429, 'Too many requests.');
      if (visit.isStranger) return respondText(403, 'A client certificate that is accepted here is needed.');
      if (users.size === 0) return undefined;
      const verdict = await verdictOf(visit, users);
      if (verdict === 'right') return undefined;
      if (verdict === 'wrong')
        return respondText(401, 'Unauthorized.', {
          'WWW-Authenticate': 'Basic realm="xvs-exporter", charset="UTF-8"',
        });
      return respondText(503, 'Too many passwords wait to be checked.', { 'Retry-After': '1' });
    },
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  };
}
