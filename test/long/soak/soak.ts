import { systemClock } from '../../../src/runtime/clock.ts';
import { findLeaks } from '../../support/leaks.ts';
import { ExporterProcess, type PollEvent } from './exporter-process.ts';
import { LeakDetector, type ResourceUsage } from './leak-detector.ts';
import { FaultInjector } from './fault-injector.ts';
import { Scrapers, type Scrape } from './scrapers.ts';
import { SimulatedService } from './simulated-service.ts';
import {
  INTERVAL_MS,
  createRandom,
  SECRET,
  SOAK_CODES,
  HEALTHY_CODE,
  type SoakCode,
  type SoakSettings,
} from './settings.ts';

/** A scrape with the monotonic times of its start and end. */
interface TimedScrape {
  readonly scrape: Scrape;
  readonly startedMs: number;
  readonly endedMs: number;
}

/** The result of a soak test. */
export interface SoakReport extends SoakSettings {
  readonly injectionCount: number;
  /** Number of different faults injected. */
  readonly faultKindCount: number;
  /** Number of valid but difficult changes between two listings. */
  readonly eventCount: number;
  readonly killCount: number;
  /** Number of periods in which the machine was too slow to check poll deadlines. */
  readonly stallCount: number;
  readonly polls: number;
  /** Failed polls by reason. */
  readonly failures: Readonly<Record<string, number>>;
  /** Number of log lines above level `debug`. */
  readonly logLines: number;
  readonly scrapes: Scrapers['scrapes'];
  /** Bytes that the simulated service expects on the counters. */
  readonly accountedBytes: number;
  /** Sum of the absolute differences between counters and expected bytes. */
  readonly differenceBytes: number;
  readonly resourceUsage: ResourceUsage;
  /** Failed checks. */
  readonly problems: readonly string[];
}

/** Allowed growth of the minimum heap size. Short runs need more: they have few collections, and code is still compiled. */
const getHeapSlackBytes = (minutes: number): number => (minutes < 5 ? 16 : 3) * 1024 * 1024;
/** Allowed growth of the minimum number of descriptors. */
const DESCRIPTOR_SLACK = 8;
/** Log lines above `debug` per fault: failure, rejected records, changed reason, recovery. */
const LOG_LINES_PER_FAULT = 4;
/** Log lines above `debug` per process, for start and shutdown. */
const BASE_LOG_LINES = 20;
/** Time between two kills. All kills happen in the first third of a run; the rest is for leak detection. */
const KILL_INTERVAL_MS = 45_000;
/** Much shorter than `INTERVAL_MS`, so that faults change right after a poll. */
const LOG_READ_INTERVAL_MS = 20;
/** If a sleep of this process ends later than this, the machine is too slow to check poll deadlines for two intervals. */
const MAX_DELAY_MS = 250;
/** Longer than the longest `Retry-After` of a fault. */
const RECOVERY_MS = 30_000;

/** Runs the exporter in a separate process with a faulty service and concurrent scrapers, and checks its counters. */
export async function soak(settings: SoakSettings): Promise<SoakReport> {
  await using service = await SimulatedService.start(settings.seed);
  await using exporter = await ExporterProcess.start((code) => service.getUrl(code));
  const run = new SoakRun(settings, service, exporter);
  return await run.run();
}

class SoakRun {
  readonly #settings: SoakSettings;
  readonly #service: SimulatedService;
  readonly #exporter: ExporterProcess;
  readonly #faultInjector: FaultInjector;
  readonly #scrapers: Scrapers;
  readonly #leakDetector = new LeakDetector();
  readonly #problems = new Set<string>();
  readonly #failures: Record<string, number> = {};
  readonly #polls = new Map<SoakCode, number>();
  readonly #successfulPolls = new Map<SoakCode, number>();
  #killCount = 0;
  /** Monotonic time until which poll deadlines are not checked. */
  #stalledUntilMs = 0;
  #stallCount = 0;

  constructor(settings: SoakSettings, service: SimulatedService, exporter: ExporterProcess) {
    this.#settings = settings;
    this.#service = service;
    this.#exporter = exporter;
    this.#faultInjector = new FaultInjector(service, createRandom(settings.seed));
    this.#scrapers = new Scrapers(exporter.url, createRandom(settings.seed + 1));
  }

  async run(): Promise<SoakReport> {
    const endMs = systemClock.monotonic() + this.#settings.minutes * 60_000;
    const lastKillMs = endMs - this.#settings.minutes * 40_000;
    let first = await this.#start();
    for (;;) {
      const untilMs = Math.min(systemClock.monotonic() + KILL_INTERVAL_MS, lastKillMs);
      await this.#waitUntil(() => systemClock.monotonic() >= untilMs, Infinity);
      first = await this.#kill(first);
      if (systemClock.monotonic() >= lastKillMs) break;
    }
    this.#scrapers.onScrape = (scrape) => this.#leakDetector.record(scrape);
    await this.#waitUntil(() => systemClock.monotonic() >= endMs, Infinity);
    await this.#scrapers.stop();
    await this.#recover();
    const last = await this.#readScrape();
    this.#checkSchedule(first, last);
    const exitCode = await this.#exporter.stop();
    if (exitCode !== 0) this.#problems.add(`the exporter exited with code ${exitCode}`);
    for (const leak of findLeaks(this.#exporter.output, SECRET))
      this.#problems.add(`the log contains ${leak}`);
    return this.#createReport(last.scrape);
  }

  /** Waits for a successful poll of each code, scrapes once, and starts the scrapers. */
  async #start(): Promise<TimedScrape> {
    await this.#waitForSuccesses(1);
    const first = await this.#readScrape();
    this.#scrapers.start();
    return first;
  }

  /** Kills and restarts the exporter while the world is paused, so that no bytes flow between the last and the first poll. */
  async #kill(first: TimedScrape): Promise<TimedScrape> {
    await this.#recover();
    await this.#scrapers.stop();
    this.#checkSchedule(first, await this.#readScrape());
    this.#killCount += 1;
    await this.#exporter.kill();
    await this.#readPolls();
    this.#service.dropPendingListings();
    await this.#exporter.restart();
    const restarted = await this.#start();
    this.#service.resume();
    this.#faultInjector.resume();
    return restarted;
  }

  /** Clears all faults, pauses the world, and waits for three successful polls of each code, which count all bytes. */
  async #recover(): Promise<void> {
    await this.#faultInjector.stop(SOAK_CODES);
    await this.#waitForSuccesses(1);
    this.#service.pause();
    await this.#waitForSuccesses(3);
  }

  async #waitForSuccesses(more: number): Promise<void> {
    const wanted = new Map(SOAK_CODES.map((code) => [code, (this.#successfulPolls.get(code) ?? 0) + more]));
    await this.#waitUntil(
      () => SOAK_CODES.every((code) => (this.#successfulPolls.get(code) ?? 0) >= (wanted.get(code) ?? 0)),
      RECOVERY_MS,
    );
  }

  /** Reads polls from the log until `isDone` returns true. */
  async #waitUntil(isDone: () => boolean, timeoutMs: number): Promise<void> {
    const deadlineMs = systemClock.monotonic() + timeoutMs;
    while (!isDone()) {
      if (systemClock.monotonic() > deadlineMs) throw new Error('Expected all service codes to recover');
      await this.#readPolls();
      await this.#sleep();
    }
  }

  async #sleep(): Promise<void> {
    const dueMs = systemClock.monotonic() + LOG_READ_INTERVAL_MS;
    await systemClock.sleep(LOG_READ_INTERVAL_MS);
    const nowMs = systemClock.monotonic();
    if (nowMs - dueMs < MAX_DELAY_MS) return;
    if (nowMs > this.#stalledUntilMs) this.#stallCount += 1;
    this.#stalledUntilMs = nowMs + 2 * INTERVAL_MS;
  }

  async #readPolls(): Promise<void> {
    for (const event of this.#exporter.readNewPolls()) await this.#handlePollEnd(event);
  }

  async #handlePollEnd({ serviceCode, reason, atMs }: PollEvent): Promise<void> {
    this.#polls.set(serviceCode, (this.#polls.get(serviceCode) ?? 0) + 1);
    const fault = this.#faultInjector.getActiveFault(serviceCode);
    if (reason !== fault?.reason && systemClock.monotonic() > this.#stalledUntilMs) {
      const found = `expected ${fault?.reason ?? 'success'}, found ${reason ?? 'success'}`;
      this.#problems.add(`${serviceCode}, with ${fault?.name ?? 'no fault'}: ${found}`);
    }
    if (reason === undefined)
      this.#successfulPolls.set(serviceCode, (this.#successfulPolls.get(serviceCode) ?? 0) + 1);
    else this.#failures[reason] = (this.#failures[reason] ?? 0) + 1;
    if (!this.#service.handlePollEnd(serviceCode, reason === undefined, atMs))
      this.#problems.add(`${serviceCode}: a poll succeeded without a served listing`);
    if (serviceCode !== HEALTHY_CODE) await this.#faultInjector.handlePollEnd(serviceCode);
  }

  async #readScrape(): Promise<TimedScrape> {
    const startedMs = systemClock.monotonic();
    const scrape = await this.#scrapers.scrape('text');
    return { scrape, startedMs, endedMs: systemClock.monotonic() };
  }

  /** Checks that the polls made and skipped between two scrapes add up to those due, within one interval. */
  #checkSchedule(first: TimedScrape, last: TimedScrape): void {
    const min = (last.startedMs - first.endedMs) / INTERVAL_MS - 1;
    const max = (last.endedMs - first.startedMs) / INTERVAL_MS + 1;
    for (const code of SOAK_CODES) {
      const skipped = computeGrowth(first.scrape, last.scrape, 'xvs_exporter_polls_skipped_total', code);
      const due = computeGrowth(first.scrape, last.scrape, 'xvs_exporter_polls_total', code) + skipped;
      if (due < min || due > max)
        this.#problems.add(`${code}: expected ${min} to ${max} polls, found ${due}`);
      if (code === HEALTHY_CODE && skipped > this.#stallCount)
        this.#problems.add(`${code}: expected at most ${this.#stallCount} skipped polls, found ${skipped}`);
    }
  }

  #createReport(scrape: Scrape): SoakReport {
    const { bytes, difference } = this.#compareTotals(scrape);
    const resourceUsage = this.#leakDetector.summarize();
    if (difference !== 0)
      this.#problems.add(`the counters differ from the expected bytes by ${difference} B`);
    if (
      resourceUsage.lateMinHeapBytes - resourceUsage.earlyMinHeapBytes >
      getHeapSlackBytes(this.#settings.minutes)
    )
      this.#problems.add('the minimum heap size grew');
    if (resourceUsage.lateMinDescriptors - resourceUsage.earlyMinDescriptors > DESCRIPTOR_SLACK)
      this.#problems.add('the minimum number of file descriptors grew');
    if (
      this.#exporter.noticeCount >
      LOG_LINES_PER_FAULT * this.#faultInjector.injectionCount + BASE_LOG_LINES * (1 + this.#killCount)
    )
      this.#problems.add(`the log has ${this.#exporter.noticeCount} lines above debug`);
    if (bytes === 0) this.#problems.add('expected bytes, found none');
    return {
      ...this.#settings,
      injectionCount: this.#faultInjector.injectionCount,
      faultKindCount: this.#faultInjector.injectedKindCount,
      eventCount: this.#service.eventCount,
      killCount: this.#killCount,
      stallCount: this.#stallCount,
      polls: [...this.#polls.values()].reduce((sum, count) => sum + count, 0),
      failures: this.#failures,
      logLines: this.#exporter.noticeCount,
      scrapes: this.#scrapers.scrapes,
      accountedBytes: bytes,
      differenceBytes: difference,
      resourceUsage,
      problems: [...this.#problems, ...this.#scrapers.problems],
    };
  }

  /** Adds absolute differences by service code and direction, so that a surplus cannot hide a loss. */
  #compareTotals(scrape: Scrape): { bytes: number; difference: number } {
    let [bytes, difference] = [0, 0];
    for (const code of SOAK_CODES) {
      const { input, output, started, ended } = this.#service.getTotals(code);
      bytes += input + output;
      difference += Math.abs(sumSeries(scrape, 'xvs_input_bytes_total', code) - input);
      difference += Math.abs(sumSeries(scrape, 'xvs_http_output_bytes_total', code) - output);
      const [foundStarted, foundEnded] = [
        sumSeries(scrape, 'xvs_tasks_started_total', code),
        sumSeries(scrape, 'xvs_tasks_ended_total', code),
      ];
      if (foundStarted !== started || foundEnded !== ended)
        this.#problems.add(
          `${code}: expected ${started} started and ${ended} ended tasks, found ${foundStarted} and ${foundEnded}`,
        );
    }
    return { bytes, difference };
  }
}

function computeGrowth(first: Scrape, last: Scrape, family: string, code: SoakCode): number {
  return sumSeries(last, family, code) - sumSeries(first, family, code);
}

function sumSeries(scrape: Scrape, family: string, code: SoakCode): number {
  const prefix = `${family}{"service_code":"${code}"`;
  return [...scrape].reduce((sum, [series, value]) => (series.startsWith(prefix) ? sum + value : sum), 0);
}
