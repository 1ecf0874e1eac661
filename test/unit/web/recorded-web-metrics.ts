import type {
  ConnectionCloseReason,
  RequestRejectionReason,
  WebMetrics,
} from '../../../src/metrics/exposition/web-metrics.ts';

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
