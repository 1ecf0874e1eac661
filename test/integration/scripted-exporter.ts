import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createExporter, type Exporter } from '../../src/app.ts';
import type { Configuration } from '../../src/config/configuration.ts';
import { createLogger } from '../../src/runtime/logger.ts';
import { renderListPage } from '../../src/web/status-page/list-page.ts';
import { BUILD } from '../support/build-info.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { render } from '../support/render.ts';
import { createScriptedConfiguration, LEDGER_DEFAULTS } from './rig-configuration.ts';
import { PollLog } from './poll-log.ts';
import { parseSeries, type Series } from '../support/series.ts';

export interface ScriptedOptions {
  readonly serviceCodes: readonly string[];
  /** The service, which does not listen yet. It is closed with the exporter. */
  readonly server: Server;
  readonly maxLabelSets?: number;
  readonly ledger?: Partial<Configuration['ledger']>;
}

/** The exporter with a service whose responses the test defines. Polls run only when the test calls `poll`. */
export class ScriptedExporter implements AsyncDisposable {
  readonly clock = new ManualClock(Date.UTC(2026, 0, 1));
  readonly log = new PollLog();
  readonly exporter: Exporter;
  readonly #server: Server;

  private constructor(
    server: Server,
    baseUrl: string,
    { serviceCodes, maxLabelSets = 1000, ledger }: ScriptedOptions,
  ) {
    this.#server = server;
    const configuration = createScriptedConfiguration(baseUrl, serviceCodes, maxLabelSets, {
      ...LEDGER_DEFAULTS,
      ...ledger,
    });
    this.exporter = createExporter(configuration, {
      clock: this.clock,
      logger: createLogger({ level: 'debug', format: 'json', destination: this.log }),
      build: BUILD,
    });
  }

  static async start(options: ScriptedOptions): Promise<ScriptedExporter> {
    const { server } = options;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return new ScriptedExporter(server, `http://127.0.0.1:${port}`, options);
  }

  /** Polls all service codes together, one interval after the previous time. */
  async poll(): Promise<void> {
    this.clock.advance(15_000);
    await this.exporter.poller.pollOnce(new AbortController().signal);
  }

  /** The exposition in text, with the totals of new counters. */
  async text(): Promise<string> {
    const { families } = await this.exporter.facade.collect();
    return render(families, 'text');
  }

  /** Parses both formats of the exposition strictly, and returns the samples of one. */
  async read(): Promise<Series> {
    const { facade } = this.exporter;
    parseExposition(render((await facade.collect()).families, 'openmetrics'), 'openmetrics');
    return parseSeries(await this.text());
  }

  /** The status page. */
  statusPage(): string {
    return renderListPage(this.exporter.facade, new URLSearchParams());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.exporter[Symbol.asyncDispose]();
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
