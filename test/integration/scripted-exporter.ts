import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createExporter, type Exporter } from '../../src/app.ts';
import { createLogger } from '../../src/log.ts';
import { listOf } from '../../src/web/pages/status-pages.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { render } from '../support/render.ts';
import { scriptedConfiguration } from './configured.ts';
import { PollLog } from './poll-log.ts';
import { parseSeries, type Series } from './series.ts';

export interface ScriptedOptions {
  readonly serviceCodes: readonly string[];
  /** What answers; not yet listening. Closed with the exporter. */
  readonly server: Server;
  readonly maxLabelSets?: number;
}

/** The exporter, polled by hand, before a server of the test's own that says whatever the test wants. */
export class ScriptedExporter implements AsyncDisposable {
  readonly clock = new ManualClock(Date.UTC(2026, 0, 1));
  readonly log = new PollLog();
  readonly exporter: Exporter;
  readonly #server: Server;

  private constructor(
    server: Server,
    baseUrl: string,
    { serviceCodes, maxLabelSets = 1000 }: ScriptedOptions,
  ) {
    this.#server = server;
    this.exporter = createExporter(scriptedConfiguration(baseUrl, serviceCodes, maxLabelSets), {
      clock: this.clock,
      logger: createLogger({ level: 'debug', format: 'json', destination: this.log }),
      build: { version: '0.0.0', revision: 'test', nodeVersion: process.version },
    });
  }

  static async start(options: ScriptedOptions): Promise<ScriptedExporter> {
    const { server } = options;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return new ScriptedExporter(server, `http://127.0.0.1:${port}`, options);
  }

  /** Polls all service codes at once, an interval after the last time. */
  async poll(): Promise<void> {
    this.clock.advance(15_000);
    await this.exporter.poller.pollOnce(new AbortController().signal);
  }

  /** The exposition in text. */
  async text(): Promise<string> {
    return render(await this.exporter.view.collect(), 'text');
  }

  /** Reads both forms of the exposition with the strict parser, and gives the samples of one. */
  async read(): Promise<Series> {
    const { view } = this.exporter;
    parseExposition(render(await view.collect(), 'openmetrics'), 'openmetrics');
    return parseSeries(await this.text());
  }

  /** The status page. */
  statusPage(): string {
    return listOf(this.exporter.view, new URLSearchParams(), '/metrics');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.exporter[Symbol.asyncDispose]();
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
