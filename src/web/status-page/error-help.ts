import type { PollErrorReason } from '../../upstream/errors.ts';
import type { ServiceCodeStatus } from '../view.ts';
import { ago } from './human-units.ts';
import { html, type Markup } from './markup.ts';

interface Explanation {
  readonly what: string;
  readonly attempt: string;
}

/** Each reason in plain words, and what to try. The exporter's own words only: the service's may hold anything. */
const EXPLANATIONS: Readonly<Record<PollErrorReason, Explanation>> = {
  timeout: {
    what: 'The service did not answer in time.',
    attempt:
      'See whether the service is slow or the network loses packets; if listings are long, raise upstream.timeout.',
  },
  dns: {
    what: 'The name of the service could not be resolved.',
    attempt: 'Check the host name in upstream.base_url and the name servers of this machine.',
  },
  connect: {
    what: 'The service could not be connected to.',
    attempt:
      'Check host and port in upstream.base_url, whether the service runs, firewalls, and the proxy settings.',
  },
  tls: {
    what: 'A secure connection to the service could not be made.',
    attempt:
      'Check upstream.ca_file, whether the certificate has expired or is for another name, and whether https is right for this port.',
  },
  reset: {
    what: 'The connection to the service broke before the answer was whole.',
    attempt: 'If it happens again, look at the service and at the proxies and load balancers in between.',
  },
  http_status: {
    what: 'The service answered with an HTTP error.',
    attempt:
      'The log has the status. Check that upstream.base_url is the address of the service, without the path of the call.',
  },
  too_large: {
    what: 'The listing is larger than the limit that is set.',
    attempt: 'Raise upstream.max_response_size if listings of this size are expected.',
  },
  not_json: {
    what: 'The answer is not JSON.',
    attempt:
      'Check what answers at upstream.base_url: a proxy or a login page may stand in between. The log names the byte.',
  },
  bad_shape: {
    what: 'The answer is JSON, but not a listing.',
    attempt: 'Check that upstream.base_url is the address of the service. The log says what was found where.',
  },
  api_error: {
    what: 'The service refused the call',
    attempt: 'Check the secret, that the service code is right, and that the clock of this machine is.',
  },
};

/** What went wrong, in a sentence. */
export function wordsOf(reason: PollErrorReason, ret?: number): string {
  const { what } = EXPLANATIONS[reason];
  if (reason !== 'api_error') return what;
  return ret === undefined ? `${what}.` : `${what} (ret ${ret}).`;
}

/** Why a service code is not well and what to try; nothing for one that is. */
export function trouble(status: ServiceCodeStatus, nowMs: number): Markup | undefined {
  const { condition, lastError, ret, lastPollMs } = status;
  if (condition === 'stale') return staleness(status, nowMs);
  if (condition !== 'down' || lastError === undefined) return undefined;
  return html`<strong>${wordsOf(lastError, ret)}</strong>
    <span class="try">Try: ${EXPLANATIONS[lastError].attempt}</span>
    <span class="aside">Last poll ${ago(lastPollMs, nowMs)}; ${oldFigures(status, nowMs)}</span>`;
}

function staleness({ lastPollMs }: ServiceCodeStatus, nowMs: number): Markup {
  return html`<strong>The last good listing is older than poll.stale_after.</strong>
    <span class="try"
      >Try: set poll.stale_after to more than poll.interval; the service may also have asked for a pause or,
      with poll.mode scrape, nobody scraped.</span
    >
    <span class="aside">Last poll ${ago(lastPollMs, nowMs)}.</span>`;
}

function oldFigures({ figures, lastSuccessMs }: ServiceCodeStatus, nowMs: number): Markup {
  if (figures !== undefined) return html`the figures are of ${ago(lastSuccessMs, nowMs)}.`;
  return lastSuccessMs === undefined
    ? html`none has succeeded yet.`
    : html`the figures of the last good one are too old to be shown.`;
}
