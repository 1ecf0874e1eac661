import { CATALOGUE } from '../catalogue/catalogue.ts';
import { MetricSet } from './metric-set.ts';

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
export function createWebMetrics(): WebMetrics & Pick<MetricSet, 'families'> {
  const { webConnections, webConnectionsClosed, webRequestsRejected, tlsCertificateNotAfter } = CATALOGUE;
  const set = new MetricSet([
    webConnections,
    webConnectionsClosed,
    webRequestsRejected,
    tlsCertificateNotAfter,
  ]);
  set.set(webConnections, 0);
  for (const reason of CONNECTION_CLOSE_REASONS) set.set(webConnectionsClosed, 0, reason);
  for (const reason of REQUEST_REJECTION_REASONS) set.set(webRequestsRejected, 0, reason);
  return {
    addConnections: (change) => set.add(webConnections, change),
    recordConnectionClosed: (reason) => set.add(webConnectionsClosed, 1, reason),
    recordRequestRejected: (reason) => set.add(webRequestsRejected, 1, reason),
    setCertificateNotAfter: (notAfterMs) => set.set(tlsCertificateNotAfter, notAfterMs / 1000),
    get families() {
      return set.families;
    },
  };
}
