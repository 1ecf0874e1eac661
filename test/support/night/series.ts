import { readFileSync } from 'node:fs';
import { PollHistory } from '../../../src/poller/poll-history.ts';
import { NO_POLLS } from '../../../src/poller/poll-metrics.ts';
import { Store, type CodeState } from '../../../src/poller/store.ts';
import { deployPath } from '../deploy-files.ts';
import { TallyProcess } from '../tally-process.ts';
import { NightService } from './service.ts';
import {
  MIN_INPUT_RATE,
  OUTPUTS,
  STEP_SECONDS,
  STEPS,
  type Night,
  type NightCode,
  type Replica,
} from './truth.ts';

/** The default of `upstream.timeout`. */
const TIMEOUT_SECONDS = 10;

/** Processes have run for so long when the night begins. */
const EARLIER_SECONDS = 2 * 3600;

/** Samples of a series, one for each scrape; `undefined` where it has none. */
export type Samples = (number | undefined)[];
export type NightSeries = ReadonlyMap<string, Samples>;

/** The families that rules read. */
const FAMILIES = new Set(readFileSync(deployPath('prometheus/rules/alerts.yml'), 'utf8').match(/\bxvs_\w+/g));

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Writes what the exporters of a night expose, as one Prometheus scrapes it. */
export function exposeNight(night: Night, phase: number): NightSeries {
  const series = new Map<string, Samples>();
  for (const replica of night.replicas)
    exposeReplica(night, replica, phase, (step, sample) => {
      const labels = { job: 'xvs-exporter', instance: replica.instance, ...sample.labels };
      const key = `${sample.name}{${Object.entries(labels)
        .map(([label, value]) => `${label}="${value}"`)
        .join(', ')}}`;
      const samples = series.get(key) ?? Array.from<undefined>({ length: STEPS });
      samples[step] = sample.value;
      series.set(key, samples);
    });
  return series;
}

function exposeReplica(
  { codes }: Night,
  { isUp, hasState }: Replica,
  phase: number,
  put: (step: number, sample: Sample) => void,
): void {
  const polled = codes.map((code) => new PolledNightCode(code, hasState));
  let startedAt = -EARLIER_SECONDS;
  let second = 0;
  let wasUp = true;
  for (let step = 0; step < STEPS; step += 1) {
    const now = step * STEP_SECONDS + phase;
    for (; second <= now; second += 1) {
      if (isUp.at(second) && !wasUp) {
        startedAt = second;
        for (const one of polled) one.restart(second);
      }
      wasUp = isUp.at(second);
      for (const one of polled)
        if (wasUp && (second - Math.max(0, startedAt)) % one.code.intervalSeconds === 0) one.poll(second);
    }
    const about = (name: string, value: number): void => put(step, { name, labels: {}, value });
    about('up', wasUp ? 1 : 0);
    if (!wasUp) continue;
    const configured = polled.filter(({ code }) => code.isConfigured.at(now));
    about('xvs_exporter_build_info', 1);
    about('xvs_exporter_time_seconds', now);
    about('process_start_time_seconds', startedAt);
    about('xvs_exporter_config_last_reload_success_timestamp_seconds', startedAt);
    about('xvs_exporter_service_codes', configured.length);
    about('xvs_exporter_shards', 1);
    for (const one of configured) for (const sample of one.collect(now)) put(step, sample);
  }
}

/** A code that the real tally follows, and what the real store exposes of it. */
class PolledNightCode {
  readonly code: NightCode;
  readonly #service: NightService;
  readonly #process: TallyProcess;
  #state: CodeState;

  constructor(code: NightCode, hasState: boolean) {
    this.code = code;
    const { serviceCode, intervalSeconds: interval } = code;
    this.#service = new NightService(code, -EARLIER_SECONDS);
    const options = { serviceCode, pollIntervalMs: interval * 1000 };
    this.#process = new TallyProcess(options, hasState, -EARLIER_SECONDS);
    this.#state = this.#begin();
    for (const second of [-EARLIER_SECONDS, -2 * interval, -interval]) this.poll(second);
  }

  restart(second: number): void {
    this.#process.restart(second);
    this.#state = this.#begin();
  }

  poll(second: number): void {
    const { answers, expectedTasks, names } = this.code;
    const isGood = second < 0 || answers.at(second);
    const { polls } = this.#state;
    const { errors } = polls;
    const expectation = {
      tasks: expectedTasks.at(second),
      names,
      minima: names.map((name) => ({ name, inputBytesPerSecond: MIN_INPUT_RATE, outputs: OUTPUTS })),
    };
    this.#process.expectation = expectation;
    const atMs = this.#process.readInstant(second).monotonicMs;
    this.#state = {
      ...this.#state,
      expectation,
      lastPoll: { atMs, durationMs: 100 },
      polls: {
        ...polls,
        ended: polls.ended + 1,
        errors: isGood ? errors : { ...errors, timeout: errors.timeout + 1 },
      },
      failure: isGood
        ? undefined
        : { reason: 'timeout', message: '', remedies: [], sinceMs: atMs, pausedUntilMs: undefined },
    };
    if (!isGood) return;
    this.#state = { ...this.#state, snapshot: this.#process.poll(this.#service.answer(second), second) };
  }

  *collect(second: number): Generator<Sample> {
    const store = new Store();
    store.publish(this.#state);
    for (const { spec, samples } of store.collectFamilies(this.#process.readInstant(second))) {
      if (!FAMILIES.has(spec.name) || !('labelSets' in samples)) continue;
      const [, ...names] = spec.labels;
      for (const [index, labelSet] of samples.labelSets.entries()) {
        const value = samples.numbers[index] ?? Number.NaN;
        const own = Object.fromEntries(labelSet.map((label, place) => [names[place] ?? '', label]));
        const labels = { service_code: this.code.serviceCode, ...own };
        if (!Number.isNaN(value)) yield { name: spec.name, labels, value };
      }
    }
  }

  #begin(): CodeState {
    const intervalMs = this.code.intervalSeconds * 1000;
    return {
      serviceCode: this.code.serviceCode,
      labels: {},
      intervalMs,
      staleAfterMs: Math.max(3 * intervalMs, intervalMs + 2 * TIMEOUT_SECONDS * 1000),
      listedMs: this.#process.listedMs,
      polls: NO_POLLS,
      history: new PollHistory(),
    };
  }
}
