import { systemClock } from '../../../../src/runtime/clock.ts';
import { createLogger } from '../../../../src/runtime/logger.ts';
import { Exposition } from '../../../../src/metrics/exposition/exposition.ts';
import { PollHistory } from '../../../../src/poller/poll-history.ts';
import { DEFAULT_WEB_CONFIGURATION_SOURCE } from '../../../../src/web/security/web-configuration.ts';
import { handle } from '../../../../src/web/routes.ts';
import { respondText } from '../../../../src/web/http-messages.ts';
import { RecordedWebMetrics } from '../secured-server.ts';
import { startWebServer, type WebServer } from '../../../../src/web/server.ts';
import type { ListingBreakdown } from '../../../../src/web/status-page/listing-breakdown.ts';
import type { ExporterFacade, ServiceCodeStatus } from '../../../../src/web/exporter-facade.ts';
import { createEmptyFacade } from '../fake-facade.ts';
import { createPolling, NOW_MS, PROCESS } from './status-fixtures.ts';

/** The real web server in front of an exporter whose state the test sets. */
export class PageServer implements AsyncDisposable {
  rows: readonly ServiceCodeStatus[];
  breakdown: ListingBreakdown | undefined;
  nowMs = NOW_MS;
  /** While set, every request fails with 503. */
  isBroken = false;
  readonly requestedUrls: string[] = [];
  #server: WebServer | undefined;

  constructor(rows: readonly ServiceCodeStatus[], breakdown?: ListingBreakdown) {
    this.rows = rows;
    this.breakdown = breakdown;
  }

  /** Listens on a free port; returns the base URL. */
  async open(): Promise<string> {
    const options = { telemetryPath: '/metrics', exposition: new Exposition() };
    this.#server = await startWebServer({
      addresses: [{ host: '127.0.0.1', port: 0 }],
      maxRequests: 40,
      metrics: new RecordedWebMetrics(),
      hasOpenProbes: true,
      webConfigurationSource: DEFAULT_WEB_CONFIGURATION_SOURCE,
      clock: systemClock,
      logger: createLogger({ level: 'error', format: 'json', destination: process.stderr }),
      handle: (request) => {
        this.requestedUrls.push(request.url);
        if (this.isBroken) return Promise.resolve(respondText(503, 'Broken.'));
        return handle(request, this.#view(), options);
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
      hasServiceCode: (code) => find(code) !== undefined,
      getProcess: () => ({ ...PROCESS, nowMs: this.nowMs }),
      getStatuses: () => this.rows,
      getStatus: find,
      getPolling: () => createPolling(),
      getBreakdown: () => this.breakdown,
    });
  }
}

/** A history of 60 polls, five of which failed. */
export function createHistoryWithFailures(intervalMs = 15_000): PollHistory {
  const history = new PollHistory();
  for (let index = 0; index < 60; index += 1) {
    const poll = { atMs: index * intervalMs, durationMs: 40 + index };
    if (index > 20 && index < 26) history.append({ ...poll, error: 'timeout' });
    else history.append({ ...poll, totals: createTotals(index, intervalMs) });
  }
  return history;
}

function createTotals(index: number, intervalMs: number) {
  return {
    users: 1000 + 50 * Math.sin(index / 5),
    tasks: 100 - index / 2,
    stalledTasks: 0,
    tasksWithoutInput: 0,
    tasksWithProgress: 0,
    connections: 3000 + 800 * Math.cos(index / 9),
    inputBytes: index * intervalMs * 30_000,
    outputBytes: index * index * intervalMs * 9000,
  };
}

/** A breakdown with more client versions than the page has bars. */
export function createBreakdown(name: (index: number) => string): ListingBreakdown {
  const createCounts = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: name(index), value: 1000 - 50 * index }));
  return {
    servers: createCounts(5).map(({ name: vsId, value }, index) => ({
      vsId,
      users: value,
      tasks: 40 - index,
      stalledTasks: index === 0 ? 3 : 0,
      tasksWithoutInput: 0,
      tasksWithProgress: 0,
      connections: 7 * value,
      ingress: 125_000 * index,
      egress: index === 1 ? undefined : 1_250_000 * index,
      lastSeenMs: NOW_MS - 5000,
    })),
    outputsByFormat: createCounts(3),
    connectionsByFormat: createCounts(3),
    usersByClientVersion: createCounts(14),
    usersByDeviceType: createCounts(4),
    inputsByProtocol: [],
    mostWatched: createCounts(3).map(({ name: id, value }) => ({
      id,
      name: undefined,
      vsId: name(0),
      connections: value,
    })),
    longestWithoutInput: [],
    longestStalled: createCounts(2).map(({ name: id }, index) => ({
      id,
      name: undefined,
      vsId: name(1),
      sinceMs: NOW_MS - 60_000 * (5 - index),
    })),
  };
}
