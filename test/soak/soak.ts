import { systemClock } from '../../src/clock.ts';
import { leaksIn } from '../integration/leaks.ts';
import { SoakedExporter, type PollLine } from './exporter.ts';
import { FlatnessWatch, type Flatness } from './flatness.ts';
import { Mischief } from './mischief.ts';
import { Scrapers, type Scrape } from './scrapers.ts';
import { Service } from './service.ts';
import {
  INTERVAL_MS,
  randomOf,
  SECRET,
  SOAK_CODES,
  SOUND_CODE,
  type SoakCode,
  type SoakSettings,
} from './settings.ts';

/** What a soak came to. */
export interface SoakReport extends SoakSettings {
  /** How often a fault was switched on, and how many different ones these were. */
  readonly mishaps: number;
  readonly faults: number;
  readonly polls: number;
  /** Failed polls by reason. */
  readonly failures: Readonly<Record<string, number>>;
  /** Lines of the log above `debug`. */
  readonly logLines: number;
  readonly scrapes: Scrapers['scrapes'];
  /** Bytes by the simulator's own account, and what the counters say beyond or below it. */
  readonly bytes: number;
  readonly difference: number;
  readonly flatness: Flatness;
  /** All that did not hold. */
  readonly problems: readonly string[];
}

/** The heap's low points may differ so much: few of them are seen in a short run, and code is still being compiled. */
const heapSlackBytes = (minutes: number): number => (minutes < 5 ? 16 : 3) * 1024 * 1024;
/** The number of descriptors may differ so much from one time to another. */
const DESCRIPTOR_SLACK = 8;
/** Of a fault: it came, records were left out, it changed, it went. Besides, what is said at the start and at the end. */
const LOG_LINES_PER_FAULT = 4;
const LOG_LINES_BESIDES = 20;
/** How often the log is looked at: far more often than anything is polled. */
const LOOK_EVERY_MS = 20;
/** The longest pause that a fault asks for, and some more. */
const RECOVERY_MS = 30_000;

/** Runs the exporter, as a process of its own, against a service that has faults and clients that scrape. */
export async function soak(settings: SoakSettings): Promise<SoakReport> {
  await using service = await Service.start(settings.seed);
  await using exporter = await SoakedExporter.start((code) => service.urlOf(code));
  const run = new Run(settings, service, exporter);
  return await run.report();
}

class Run {
  readonly #settings: SoakSettings;
  readonly #service: Service;
  readonly #exporter: SoakedExporter;
  readonly #mischief: Mischief;
  readonly #scrapers: Scrapers;
  readonly #watch = new FlatnessWatch();
  readonly #problems = new Set<string>();
  readonly #failures: Record<string, number> = {};
  readonly #polls = new Map<SoakCode, number>();
  readonly #good = new Map<SoakCode, number>();

  constructor(settings: SoakSettings, service: Service, exporter: SoakedExporter) {
    this.#settings = settings;
    this.#service = service;
    this.#exporter = exporter;
    this.#mischief = new Mischief(service, randomOf(settings.seed));
    this.#scrapers = new Scrapers(exporter.url, randomOf(settings.seed + 1));
  }

  async report(): Promise<SoakReport> {
    await this.#until(() => SOAK_CODES.every((code) => (this.#good.get(code) ?? 0) > 0), RECOVERY_MS);
    const first = await this.#read();
    this.#scrapers.onScrape = (scrape) => this.#watch.note(scrape);
    this.#scrapers.start();
    const endMs = systemClock.monotonic() + this.#settings.minutes * 60_000;
    await this.#until(() => systemClock.monotonic() >= endMs, Infinity);
    await this.#scrapers[Symbol.asyncDispose]();
    await this.#recover();
    const last = await this.#read();
    this.#checkSchedule(first, last);
    const exitCode = await this.#exporter.end();
    if (exitCode !== 0) this.#problems.add(`the exporter ended with ${exitCode}`);
    for (const leak of leaksIn(this.#exporter.written, SECRET)) this.#problems.add(`the log held ${leak}`);
    return this.#sumUp(last.scrape);
  }

  /** Lets all recover, and the world stand still until each has been polled twice: all that was gained shows then. */
  async #recover(): Promise<void> {
    await this.#mischief.end(SOAK_CODES);
    await this.#untilGood(1);
    this.#service.clock.stop();
    await this.#untilGood(3);
  }

  async #untilGood(more: number): Promise<void> {
    const wanted = new Map(SOAK_CODES.map((code) => [code, (this.#good.get(code) ?? 0) + more]));
    await this.#until(
      () => SOAK_CODES.every((code) => (this.#good.get(code) ?? 0) >= (wanted.get(code) ?? 0)),
      RECOVERY_MS,
    );
  }

  /** Follows the log until something holds. */
  async #until(holds: () => boolean, timeoutMs: number): Promise<void> {
    const deadlineMs = systemClock.monotonic() + timeoutMs;
    while (!holds()) {
      if (systemClock.monotonic() > deadlineMs) throw new Error('Expected all service codes to recover');
      for (const line of this.#exporter.newPolls()) await this.#polled(line);
      await systemClock.sleep(LOOK_EVERY_MS);
    }
  }

  async #polled({ serviceCode, reason }: PollLine): Promise<void> {
    this.#polls.set(serviceCode, (this.#polls.get(serviceCode) ?? 0) + 1);
    const mishap = this.#mischief.ofNow(serviceCode);
    if (reason !== mishap?.reason) {
      const found = `expected ${mishap?.reason ?? 'success'}, found ${reason ?? 'success'}`;
      this.#problems.add(`${serviceCode}, with ${mishap?.name ?? 'nothing wrong'}: ${found}`);
    }
    if (reason === undefined) this.#good.set(serviceCode, (this.#good.get(serviceCode) ?? 0) + 1);
    else this.#failures[reason] = (this.#failures[reason] ?? 0) + 1;
    if (!this.#service.settled(serviceCode, reason === undefined))
      this.#problems.add(`${serviceCode}: a listing was read that was never given`);
    if (serviceCode !== SOUND_CODE) await this.#mischief.polled(serviceCode);
  }

  async #read(): Promise<{ readonly scrape: Scrape; readonly atMs: number }> {
    return { scrape: await this.#scrapers.scrape('text'), atMs: systemClock.monotonic() };
  }

  /** At every point of the grid there was a poll, or one was left out and counted. */
  #checkSchedule(first: { scrape: Scrape; atMs: number }, last: { scrape: Scrape; atMs: number }): void {
    const points = (last.atMs - first.atMs) / INTERVAL_MS;
    for (const code of SOAK_CODES) {
      const skipped = growth(first.scrape, last.scrape, 'xvs_exporter_polls_skipped_total', code);
      const due = growth(first.scrape, last.scrape, 'xvs_exporter_polls_total', code) + skipped;
      if (Math.abs(due - points) > 1) this.#problems.add(`${code}: ${due} polls were due of ${points}`);
      if (code === SOUND_CODE && skipped > 0) this.#problems.add(`${code}: ${skipped} polls were left out`);
    }
  }

  #sumUp(scrape: Scrape): SoakReport {
    const { bytes, difference } = this.#compare(scrape);
    const flatness = this.#watch.result();
    if (difference !== 0) this.#problems.add(`the counters differ from the account by ${difference} bytes`);
    if (flatness.heapFloorLate - flatness.heapFloorEarly > heapSlackBytes(this.#settings.minutes))
      this.#problems.add('the heap grew');
    if (flatness.descriptorsLate - flatness.descriptorsEarly > DESCRIPTOR_SLACK)
      this.#problems.add('file descriptors grew in number');
    if (this.#exporter.news > LOG_LINES_PER_FAULT * this.#mischief.mishaps + LOG_LINES_BESIDES)
      this.#problems.add(`the log had ${this.#exporter.news} lines above debug`);
    if (bytes === 0) this.#problems.add('no bytes flowed');
    return {
      ...this.#settings,
      mishaps: this.#mischief.mishaps,
      faults: this.#mischief.survived,
      polls: [...this.#polls.values()].reduce((sum, count) => sum + count, 0),
      failures: this.#failures,
      logLines: this.#exporter.news,
      scrapes: this.#scrapers.scrapes,
      bytes,
      difference,
      flatness,
      problems: [...this.#problems, ...this.#scrapers.problems],
    };
  }

  /** Of each service code and direction by itself: what is too much here must not make up for what is missing there. */
  #compare(scrape: Scrape): { bytes: number; difference: number } {
    let [bytes, difference] = [0, 0];
    for (const code of SOAK_CODES) {
      const { input, output, started, ended } = this.#service.account(code);
      bytes += input + output;
      difference += Math.abs(sumOf(scrape, 'xvs_input_bytes_total', code) - input);
      difference += Math.abs(sumOf(scrape, 'xvs_http_output_bytes_total', code) - output);
      const churn = [
        sumOf(scrape, 'xvs_tasks_started_total', code),
        sumOf(scrape, 'xvs_tasks_ended_total', code),
      ];
      if (churn[0] !== started || churn[1] !== ended)
        this.#problems.add(
          `${code}: ${churn.join(' and ')} tasks started and ended of ${started} and ${ended}`,
        );
    }
    return { bytes, difference };
  }
}

function growth(first: Scrape, last: Scrape, family: string, code: SoakCode): number {
  return sumOf(last, family, code) - sumOf(first, family, code);
}

function sumOf(scrape: Scrape, family: string, code: SoakCode): number {
  const prefix = `${family}{"service_code":"${code}"`;
  return [...scrape].reduce((sum, [series, value]) => (series.startsWith(prefix) ? sum + value : sum), 0);
}
