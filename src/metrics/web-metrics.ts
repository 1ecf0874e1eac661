import { recordOf } from '../families/record-of.ts';
import { columnByLabel, columnOf, toFamilies, type Family } from '../families/family.ts';
import { WEB_FAMILIES } from './catalogue.ts';

const CONNECTION_CLOSE_REASONS = ['max_connections', 'key_updates', 'pipelining', 'slow_client'] as const;

export type ConnectionCloseReason = (typeof CONNECTION_CLOSE_REASONS)[number];

const REQUEST_REJECTION_REASONS = [
  'unauthorized',
  'client_certificate',
  'password_queue',
  'max_requests',
] as const;

export type RequestRejectionReason = (typeof REQUEST_REJECTION_REASONS)[number];

/** Records how the web server applies its limits. */
export interface WebMetrics {
  /** Adds the change of the number of open connections. */
  addConnections(change: number): void;
  recordConnectionClosed(reason: ConnectionCloseReason): void;
  recordRequestRejected(reason: RequestRejectionReason): void;
  /** Sets the end of the validity of the server certificate, in milliseconds since the Unix epoch. */
  setCertificateNotAfter(notAfterMs: number): void;
}

/** Creates the metrics of the web server. Counters start at 0; the certificate has no value at first. */
export function createWebMetrics() {
  const closed = recordOf(CONNECTION_CLOSE_REASONS, () => 0);
  const rejected = recordOf(REQUEST_REJECTION_REASONS, () => 0);
  let connections = 0;
  let notAfterSeconds: number | undefined;
  return {
    /** `undefined` without TLS. */
    get certificateNotAfterMs(): number | undefined {
      return notAfterSeconds && notAfterSeconds * 1000;
    },
    addConnections: (change: number) => void (connections += change),
    recordConnectionClosed: (reason: ConnectionCloseReason) => void (closed[reason] += 1),
    recordRequestRejected: (reason: RequestRejectionReason) => void (rejected[reason] += 1),
    setCertificateNotAfter: (notAfterMs: number) => void (notAfterSeconds = notAfterMs / 1000),
    get families(): readonly Family[] {
      return toFamilies(WEB_FAMILIES, {
        webConnections: columnOf(connections),
        webConnectionsClosed: columnByLabel(Object.entries(closed)),
        webRequestsRejected: columnByLabel(Object.entries(rejected)),
        tlsCertificateNotAfter: columnOf(notAfterSeconds),
      });
    },
  };
}
