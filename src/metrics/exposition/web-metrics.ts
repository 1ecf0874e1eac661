import { CATALOGUE } from '../catalogue/catalogue.ts';
import type { ProcessMetricSet } from './process-metrics.ts';

const CONNECTION_CLOSE_REASONS = ['max_connections', 'pipelining', 'slow_client'] as const;

/** Why the web server closed a connection. */
export type ConnectionCloseReason = (typeof CONNECTION_CLOSE_REASONS)[number];

const REQUEST_REJECTION_REASONS = [
  'unauthorized',
  'client_certificate',
  'rate_limit',
  'password_queue',
  'max_requests',
] as const;

/** Why the web server rejected a request. */
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

/** Adds the metrics of the web server to a set. Counters start at 0; the certificate appears with its first value. */
export function createWebMetrics(set: ProcessMetricSet): WebMetrics {
  const connections = set.create(CATALOGUE.webConnections);
  const connectionsClosed = set.create(CATALOGUE.webConnectionsClosed);
  const requestsRejected = set.create(CATALOGUE.webRequestsRejected);
  const certificateNotAfter = set.create(CATALOGUE.tlsCertificateNotAfter);
  connections.set(0);
  for (const reason of CONNECTION_CLOSE_REASONS) connectionsClosed.set(0, reason);
  for (const reason of REQUEST_REJECTION_REASONS) requestsRejected.set(0, reason);
  return {
    addConnections: (change) => connections.add(change),
    recordConnectionClosed: (reason) => connectionsClosed.add(1, reason),
    recordRequestRejected: (reason) => requestsRejected.add(1, reason),
    setCertificateNotAfter: (notAfterMs) => certificateNotAfter.set(notAfterMs / 1000),
  };
}
