import { systemClock } from '../../../src/runtime/clock.ts';
import { createLogger } from '../../../src/runtime/logger.ts';
import type { PollHistory } from '../../../src/poller/poll-history.ts';
import { DEFAULT_WEB_CONFIGURATION_SOURCE } from '../../../src/web/security/web-configuration.ts';
import { handle } from '../../../src/web/routes.ts';
import type { WebResponse } from '../../../src/web/http-messages.ts';
import { RecordedWebMetrics } from '../../unit/web/secured-server.ts';
import { startWebServer, type WebServer } from '../../../src/web/server.ts';
import type { ListingBreakdown } from '../../../src/web/listing-breakdown.ts';
import type { ExporterFacade, ProcessStatus, ServiceCodeStatus } from '../../../src/web/exporter-facade.ts';
import { createEmptyFacade } from '../../unit/web/fake-facade.ts';
import { createHistory, createPolling, NOW_MS, PROCESS } from '../../unit/web/status-page/status-fixtures.ts';

/** The real web server in front of an exporter whose state the test sets. */
export class PageServer implements AsyncDisposable {
  rows: readonly ServiceCodeStatus[];
  breakdown: ListingBreakdown | undefined;
  nowMs = NOW_MS;
  polling = createPolling();
  process: Partial<ProcessStatus> = {};
  /** While set, the response to every request, as of a broken exporter or of a proxy. */
  answer: WebResponse | undefined;
  readonly requestedUrls: string[] = [];
  #server: WebServer | undefined;

  constructor(rows: readonly ServiceCodeStatus[], breakdown?: ListingBreakdown) {
    this.rows = rows;
    this.breakdown = breakdown;
  }

  /** Listens on a free port; returns the base URL. */
  async open(): Promise<string> {
    this.#server = await startWebServer({
      passwordKey: Buffer.alloc(32),
      addresses: [{ host: '127.0.0.1', port: 0 }],
      maxRequests: 40,
      metrics: new RecordedWebMetrics(),
      hasOpenProbes: true,
      webConfigurationSource: DEFAULT_WEB_CONFIGURATION_SOURCE,
      clock: systemClock,
      logger: createLogger({ level: 'error', format: 'json', destination: process.stderr }),
      handle: (request) => {
        this.requestedUrls.push(request.url);
        if (this.answer !== undefined) return Promise.resolve(this.answer);
        // As a proxy that strips this path.
        const url = request.url.replace(/^\/below(?=\/)/, '');
        return handle({ ...request, url }, this.#view(), {});
      },
    });
    return `http://127.0.0.1:${this.#server.addresses[0]?.port ?? 0}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }

  #view(): ExporterFacade {
    const find = (code: string) => this.rows.find(({ serviceCode }) => serviceCode === code);
    return createEmptyFacade({
      getServiceCodes: () => this.rows.map(({ serviceCode, labels }) => ({ serviceCode, labels })),
      getProcess: () => ({ ...PROCESS, nowMs: this.nowMs, ...this.process }),
      getStatuses: () => this.rows,
      getStatus: find,
      getPolling: () => this.polling,
      getBreakdown: () => this.breakdown,
    });
  }
}

/** A history of 60 polls, five of which failed. */
export function createHistoryWithFailures(): PollHistory {
  return createHistory(
    ...Array.from({ length: 60 }, (_, index) =>
      index > 20 && index < 26
        ? (['reset'] as const)
        : {
            users: 1000 + 50 * Math.sin(index / 5),
            tasks: 100 - index / 2,
            connections: 3000 + 800 * Math.cos(index / 9),
            inputBytes: index * 450_000_000,
            outputBytes: index * index * 135_000_000,
          },
    ),
  );
}
