import { systemClock } from '../../../src/clock.ts';
import { createLogger } from '../../../src/log.ts';
import { Exposition } from '../../../src/metrics/exposition.ts';
import { PollHistory } from '../../../src/poller/poll-history.ts';
import { OPEN_SOURCE } from '../../../src/web/config/web-configuration-source.ts';
import { handle } from '../../../src/web/routes.ts';
import { respondText } from '../../../src/web/response.ts';
import { startWebServer, type WebServer } from '../../../src/web/server.ts';
import type { ExporterView, ListingBreakdown, ServiceCodeStatus } from '../../../src/web/view.ts';
import { NOW_MS } from './status-of.ts';
import { WHOLE } from '../../../src/sharding/shard.ts';

/** The real web server before an exporter whose state is the test's to set. */
export class Stage implements AsyncDisposable {
  rows: readonly ServiceCodeStatus[];
  breakdown: ListingBreakdown | undefined;
  nowMs = NOW_MS;
  /** While set, every request is answered with 503. */
  isBroken = false;
  /** Pages that were asked for. */
  readonly requested: string[] = [];
  #server: WebServer | undefined;

  constructor(rows: readonly ServiceCodeStatus[], breakdown?: ListingBreakdown) {
    this.rows = rows;
    this.breakdown = breakdown;
  }

  /** Opens on a free port; returns where. */
  async open(): Promise<string> {
    const options = { telemetryPath: '/metrics', exposition: new Exposition() };
    this.#server = await startWebServer({
      addresses: [{ host: '127.0.0.1', port: 0 }],
      maxRequests: 40,
      maxConnections: 64,
      opensProbes: true,
      guardedBy: OPEN_SOURCE,
      clock: systemClock,
      logger: createLogger({ level: 'error', format: 'json', destination: process.stderr }),
      handle: (request) => {
        this.requested.push(request.url);
        if (this.isBroken) return Promise.resolve(respondText(503, 'Broken.'));
        return handle(request, this.#view(), options);
      },
    });
    return `http://127.0.0.1:${this.#server.addresses[0]?.port ?? 0}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }

  #view(): ExporterView {
    const find = (code: string) => this.rows.find(({ serviceCode }) => serviceCode === code);
    return {
      version: '1.2.3',
      refresh: () => Promise.resolve(),
      shard: WHOLE,
      otherShardOf: () => undefined,
      collect: () => Promise.resolve([]),
      serviceCodes: () => this.rows.map(({ serviceCode, labels }) => ({ serviceCode, labels })),
      hasServiceCode: (code) => find(code) !== undefined,
      isReady: () => true,
      isHealthy: () => true,
      nowMs: () => this.nowMs,
      status: () => this.rows,
      statusOf: find,
      breakdownOf: () => this.breakdown,
    };
  }
}

/** A history of 60 polls, a few of which failed. */
export function eventfulHistory(intervalMs = 15_000): PollHistory {
  const history = new PollHistory();
  for (let at = 0; at < 60; at += 1) {
    const ended = { atMs: at * intervalMs, durationMs: 40 + at };
    if (at > 20 && at < 26) history.note({ ...ended, error: 'timeout' });
    else history.note({ ...ended, figures: figuresAt(at, intervalMs) });
  }
  return history;
}

function figuresAt(at: number, intervalMs: number) {
  return {
    users: 1000 + 50 * Math.sin(at / 5),
    tasks: 100 - at / 2,
    stalledTasks: 0,
    connections: 3000 + 800 * Math.cos(at / 9),
    inputBytes: at * intervalMs * 30_000,
    outputBytes: at * at * intervalMs * 9000,
  };
}

/** Servers and shares, more than have bars of their own. */
export function breakdownWith(name: (index: number) => string): ListingBreakdown {
  const shares = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: name(index), value: 1000 - 50 * index }));
  return {
    servers: shares(5).map(({ name: vsId, value }, index) => ({
      vsId,
      users: value,
      tasks: 40 - index,
      stalledTasks: index === 0 ? 3 : 0,
      connections: 7 * value,
      lastSeenMs: NOW_MS - 5000,
    })),
    outputsByFormat: shares(3),
    connectionsByFormat: shares(3),
    usersByClientVersion: shares(14),
    usersByDeviceType: shares(4),
    inputsByProtocol: [],
  };
}
