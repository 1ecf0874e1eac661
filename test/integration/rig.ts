import { createExporter, type Exporter } from '../../src/app.ts';
import type { Configuration } from '../../src/config/configuration.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createLogger } from '../../src/runtime/logger.ts';
import { renderListPage } from '../../src/web/status-page/list-page.ts';
import { renderServiceCodePage } from '../../src/web/status-page/service-code-page.ts';
import { startSimulator, type Simulator } from '../simulator/server.ts';
import { createWorld, type World } from '../simulator/world.ts';
import { BUILD } from '../support/build-info.ts';
import { ManualClock } from '../support/manual-clock.ts';
import type { ExpositionFormat } from '../../src/metrics/exposition.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { render } from '../support/render.ts';
import type { FaultTarget } from './fault-actions.ts';
import { CODES, createRigConfiguration, INTERVAL_MS, SECRET, type Code } from './rig-configuration.ts';
import { FaultProxy } from './fault-proxy.ts';
import { PollLog } from './poll-log.ts';
import { HOST_NAME, FakeResolver } from './fake-resolver.ts';
import { parseSeries, type Series } from '../support/series.ts';

const STARTED_AT_MS = Date.UTC(2026, 0, 1);
/** No task starts or ends, so that counters equal the bytes that the simulator has pushed. */
const STREAMS = Array.from({ length: 8 }, (_, number) => `stream-${number}`);
/** Time between the polls of two service codes: they are spread evenly over the interval. */
const POLL_OFFSET_MS = INTERVAL_MS / CODES.length;

/**
 * Requests take real time. The clock of the test advances only between them, so none but the one here has a
 * deadline.
 */
class RigClock extends ManualClock {
  /** The timeout of the poll that must time out. */
  realTimeoutMs: number | undefined;

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return ms === this.realTimeoutMs ? systemClock.sleep(ms, signal) : super.sleep(ms, signal);
  }
}

/**
 * The exporter and the simulator, on a clock that the test advances, with a proxy between them for each
 * service code. Requests take real time. The exporter follows its schedule from the first round on.
 */
export class Rig implements AsyncDisposable {
  readonly clock: RigClock;
  readonly log = new PollLog();
  /** All expositions and pages that the exporter has rendered. */
  readonly pages: string[] = [];
  readonly resolver = new FakeResolver();
  readonly world: World;
  readonly simulator: Simulator;
  readonly proxies: Readonly<Record<Code, FaultProxy>>;
  readonly configuration: Configuration;
  readonly exporter: Exporter;
  #step = 0;

  private constructor(
    clock: RigClock,
    world: World,
    simulator: Simulator,
    proxies: Readonly<Record<Code, FaultProxy>>,
    faultyTimeoutMs: number,
  ) {
    this.clock = clock;
    this.world = world;
    this.simulator = simulator;
    this.proxies = proxies;
    const baseUrls = {
      FAULTY: `http://127.0.0.1:${proxies.FAULTY.port}`,
      SECURE: `https://127.0.0.1:${proxies.SECURE.port}`,
      NAMED: `http://${HOST_NAME}:${proxies.NAMED.port}`,
      SOUND: `http://127.0.0.1:${proxies.SOUND.port}`,
    };
    this.configuration = createRigConfiguration(baseUrls, faultyTimeoutMs);
    this.exporter = createExporter(this.configuration, {
      clock,
      logger: createLogger({ level: 'debug', format: 'json', destination: this.log }),
      build: BUILD,
    });
  }

  static async start({ faultyTimeoutMs = 20_000 }: RigOptions = {}): Promise<Rig> {
    const world = createWorld({ seed: 20, startedAtMs: STARTED_AT_MS, users: 8, tasks: 0, streams: STREAMS });
    const clock = new RigClock(STARTED_AT_MS);
    const simulator = await startSimulator({
      world,
      secretsByServiceCode: new Map(CODES.map((code) => [code, SECRET])),
      clock,
    });
    const startProxy = (isTls = false): Promise<FaultProxy> => FaultProxy.start(simulator.url, { isTls });
    const proxies = {
      FAULTY: await startProxy(),
      SECURE: await startProxy(true),
      NAMED: await startProxy(),
      SOUND: await startProxy(),
    };
    return new Rig(clock, world, simulator, proxies, faultyTimeoutMs);
  }

  /**
   * Advances the clock by one interval, in which each service code is polled once. Waits for each poll before
   * the next one, except for the poll of the faulty code, for which it waits last.
   */
  async round({ faultyCode, isQuick = false, isPaused = false }: RoundOptions = {}): Promise<void> {
    // A failed test may have left a round incomplete.
    while (this.#step % CODES.length !== 0) this.#advanceStep();
    const before = new Map(CODES.map((code) => [code, this.log.countPolls(code)]));
    const pollOf = (code: Code): Promise<void> => this.log.waitForPolls(code, (before.get(code) ?? 0) + 1);
    for (const code of CODES) {
      this.#advanceStep();
      if (code === faultyCode && (isPaused || !isQuick)) continue;
      await pollOf(code);
    }
    if (faultyCode !== undefined && !isPaused) await pollOf(faultyCode);
  }

  #advanceStep(): void {
    // Rejects on disposal. Tests wait for polls, so they notice if the poller fails.
    if (this.#step === 0) this.exporter.poller.start().catch(() => undefined);
    this.clock.advance(this.#step === 0 ? 0 : POLL_OFFSET_MS);
    this.#step += 1;
  }

  /** Polls all codes twice, because the first listing adds nothing. Parses both formats of the exposition. */
  async pollTwice(): Promise<Series> {
    await this.exporter.poller.pollOnce(new AbortController().signal);
    await this.exporter.poller.pollOnce(new AbortController().signal);
    const openMetrics = await this.#scrape('openmetrics');
    parseExposition(openMetrics, 'openmetrics');
    return await this.read();
  }

  /** Polls all codes together, outside their schedule, and reads the exposition. */
  async poll(): Promise<Series> {
    await this.exporter.poller.pollOnce(new AbortController().signal);
    return await this.read();
  }

  async #scrape(format: ExpositionFormat): Promise<string> {
    const families = await this.exporter.facade.collect('everything', 'total');
    const text = render(families, format);
    this.pages.push(text);
    return text;
  }

  /** Parses the exposition strictly, and renders the status pages. */
  async read(): Promise<Series> {
    const { facade } = this.exporter;
    const text = await this.#scrape('text');
    const pages = CODES.map(
      (code) => renderServiceCodePage(facade, new URLSearchParams({ service_code: code })) ?? '',
    );
    this.pages.push(renderListPage(facade, new URLSearchParams()), ...pages);
    return parseSeries(text);
  }

  /** Makes the polls of a service code time out in real time, or of none. */
  expectTimeout(code?: Code): void {
    const settings = this.configuration.serviceCodes.find(({ serviceCode }) => serviceCode === code);
    this.clock.realTimeoutMs = settings?.timeoutMs;
  }

  /** Returns the parts of the rig that inject faults for a service code. */
  createFaultTarget(victim: Code): FaultTarget {
    const { proxies, simulator, resolver, clock } = this;
    return { serviceCode: victim, proxy: proxies[victim], faults: simulator.faults, resolver, clock };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.exporter[Symbol.asyncDispose]();
    for (const proxy of Object.values(this.proxies)) await proxy[Symbol.asyncDispose]();
    await this.simulator[Symbol.asyncDispose]();
    this.resolver[Symbol.dispose]();
  }
}

export interface RigOptions {
  /** The poll timeout of the codes that get faults. */
  readonly faultyTimeoutMs?: number;
}

interface RoundOptions {
  /** The service code whose polls fail. */
  readonly faultyCode?: Code;
  /** If set, the poll of the faulty code must end before the clock advances. */
  readonly isQuick?: boolean;
  /** If set, the faulty code is not polled, because the service requested a pause. */
  readonly isPaused?: boolean;
}
