import { createExporter, type Exporter } from '../../src/app.ts';
import type { Clock } from '../../src/clock.ts';
import type { Configuration, PollSettings } from '../../src/config/configuration.ts';
import { createLogger } from '../../src/log.ts';
import { codeOf, listOf } from '../../src/web/pages/status-pages.ts';
import { startSimulator, type Simulator } from '../../src/simulator/server.ts';
import { createWorld, type World } from '../../src/simulator/world.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { render } from '../support/render.ts';
import type { Breakable } from './breaking.ts';
import { CODES, configurationFor, INTERVAL_MS, SECRET, type Code } from './configured.ts';
import { Front } from './front.ts';
import { bytesListed, type ListingBytes } from './listed-bytes.ts';
import { PollLog } from './poll-log.ts';
import { NAME, Resolver } from './resolver.ts';
import { parseSeries, type Series } from './series.ts';

const STARTED_AT_MS = Date.UTC(2026, 0, 1);
/** From the poll of one service code to that of the next: they are spread evenly over the interval. */
const STEP_MS = INTERVAL_MS / CODES.length;

/** The clock of the exporter alone: its wall time can be wrong, and jump. */
class SkewedClock implements Clock {
  skewMs = 0;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now() + this.skewMs;
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#clock.sleep(ms, signal);
  }
}

/**
 * The exporter and the simulator, in one world whose time the test moves; a front between them for each service code.
 * Requests take real time. The exporter keeps its schedule from the first round on.
 */
export class Rig implements AsyncDisposable {
  readonly clock: ManualClock;
  /** What the exporter takes for the time. */
  readonly exporterClock: SkewedClock;
  readonly log = new PollLog();
  /** All that the exporter has shown to anybody, besides its log. */
  readonly pages: string[] = [];
  readonly resolver = new Resolver();
  readonly world: World;
  readonly simulator: Simulator;
  readonly fronts: Readonly<Record<Code, Front>>;
  readonly configuration: Configuration;
  readonly exporter: Exporter;
  #turn = 0;

  private constructor(
    clock: ManualClock,
    world: World,
    simulator: Simulator,
    fronts: Readonly<Record<Code, Front>>,
    mode: PollSettings['mode'],
  ) {
    this.clock = clock;
    this.exporterClock = new SkewedClock(clock);
    this.world = world;
    this.simulator = simulator;
    this.fronts = fronts;
    const baseUrls = {
      FAULTY: `http://127.0.0.1:${fronts.FAULTY.port}`,
      SECURE: `https://127.0.0.1:${fronts.SECURE.port}`,
      NAMED: `http://${NAME}:${fronts.NAMED.port}`,
      SOUND: `http://127.0.0.1:${fronts.SOUND.port}`,
    };
    this.configuration = configurationFor(baseUrls, mode);
    this.exporter = createExporter(this.configuration, {
      clock: this.exporterClock,
      logger: createLogger({ level: 'debug', format: 'json', destination: this.log }),
      build: { version: '0.0.0', revision: 'test', nodeVersion: process.version },
    });
  }

  static async start({ mode = 'interval' }: Partial<PollSettings> = {}): Promise<Rig> {
    const world = createWorld({ seed: 20, startedAtMs: STARTED_AT_MS, users: 24, tasks: 16 });
    const clock = new ManualClock(STARTED_AT_MS);
    const simulator = await startSimulator({
      listen: { host: '127.0.0.1', port: 0 },
      world,
      codes: new Map(CODES.map((code) => [code, SECRET])),
      clock,
      clockToleranceMs: 5 * 60_000,
      gzip: true,
    });
    const front = (isTls = false): Promise<Front> => Front.start(simulator.url, { isTls });
    const fronts = {
      FAULTY: await front(),
      SECURE: await front(true),
      NAMED: await front(),
      SOUND: await front(),
    };
    return new Rig(clock, world, simulator, fronts, mode);
  }

  /** The listing that a service code gets at this moment. */
  listingBytes(serviceCode: Code, isListed?: (index: number) => boolean): ListingBytes {
    const freezes = this.simulator.faults.freezes();
    return bytesListed(this.world, serviceCode, this.clock.now(), freezes, isListed);
  }

  /**
   * Goes through one interval, in which each service code is polled when it is its turn. A poll of the victim may last
   * until the end of the round, one of the others until it is over; `onPoll` is told of these right after.
   */
  async round({ victim, isQuick = false, isPaused = false, onPoll }: RoundOptions = {}): Promise<void> {
    // Whatever a test left undone.
    while (this.#turn % CODES.length !== 0) this.#takeTurn();
    const before = new Map(CODES.map((code) => [code, this.log.pollsOf(code)]));
    const pollOf = (code: Code): Promise<void> => this.log.pollsReach(code, (before.get(code) ?? 0) + 1);
    for (const code of CODES) {
      this.#takeTurn();
      if (code === victim && (isPaused || !isQuick)) continue;
      await pollOf(code);
      if (code !== victim) onPoll?.(code);
    }
    if (victim !== undefined && !isPaused) await pollOf(victim);
  }

  #takeTurn(): void {
    // Rejects when it is disposed of; a poll that fails by a mistake never ends, and a test waits for it in vain.
    if (this.#turn === 0) this.exporter.poller.start().catch(() => undefined);
    this.clock.advance(this.#turn === 0 ? 0 : STEP_MS);
    this.#turn += 1;
  }

  /**
   * Polls all twice at the same time: a counter that was born at zero then shows what it was born with. Both forms of
   * the exposition are read.
   */
  async settle(): Promise<Series> {
    await this.#pollAll();
    await this.#pollAll();
    const openMetrics = render(await this.exporter.view.collect(), 'openmetrics');
    this.pages.push(openMetrics);
    parseExposition(openMetrics, 'openmetrics');
    return await this.read();
  }

  /** Polls all at once, out of turn, and reads what is exposed then. */
  async poll(): Promise<Series> {
    await this.#pollAll();
    return await this.read();
  }

  /** In scrape mode by a scrape of everything, which waits for all its polls: the exporter's time stands still. */
  async #pollAll(): Promise<void> {
    const { mode } = this.configuration.poll;
    if (mode === 'scrape') return await this.exporter.view.refresh({});
    await this.exporter.poller.pollOnce(new AbortController().signal);
  }

  /** Reads the exposition with the strict parser, and the pages for people. */
  async read(): Promise<Series> {
    const { view } = this.exporter;
    const text = render(await view.collect(), 'text');
    const pages = CODES.map((code) => codeOf(view, code, '/metrics') ?? '');
    this.pages.push(text, listOf(view, new URLSearchParams(), '/metrics'), ...pages);
    return parseSeries(text);
  }

  /** What is broken of a service code, and mended. */
  breakable(victim: Code): Breakable {
    const { fronts, simulator, resolver, clock } = this;
    return { serviceCode: victim, front: fronts[victim], faults: simulator.faults, resolver, clock };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.exporter[Symbol.asyncDispose]();
    for (const front of Object.values(this.fronts)) await front[Symbol.asyncDispose]();
    await this.simulator[Symbol.asyncDispose]();
    this.resolver[Symbol.dispose]();
  }
}

interface RoundOptions {
  /** The service code whose polls fail. */
  readonly victim?: Code;
  /** Whether its poll ends before time goes on. */
  readonly isQuick?: boolean;
  /** Whether it is not polled at all, because the service asked for a pause. */
  readonly isPaused?: boolean;
  readonly onPoll?: (serviceCode: Code) => void;
}
