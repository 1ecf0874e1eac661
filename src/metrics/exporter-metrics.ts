import type { Clock } from '../runtime/clock.ts';
import { getWallOffsetMs, readInstant } from '../runtime/instant.ts';
import { readMemoryLimit } from '../runtime/limits.ts';
import { SINGLE_SHARD, type Shard } from '../sharding/shard.ts';
import type { StateStatistics } from '../state/state-store.ts';
import type { AccountBudget } from '../tally/account-budget.ts';
import { PROCESS_FAMILIES } from './catalogue.ts';
import { columnByLabel, columnOf, toFamilies, type Family } from '../families/family.ts';
import { Histogram } from '../families/histogram.ts';
import { DefaultMetrics } from './prom-client-adapter.ts';
import { createWebMetrics } from './web-metrics.ts';

/** The clock and the metrics of the web server change with each scrape. Concurrent scrapes share them. */
const VOLATILE_METRICS_MAX_AGE_MS = 1000;
/** Collecting the default metrics reads `/proc` and computes percentiles: as long as a small scrape. */
const DEFAULT_METRICS_MAX_AGE_MS = 10_000;

/** How long pages tell that a file has lost service codes. */
const CODE_LOSS_SHOWN_MS = 60 * 60 * 1000;

/** When the configuration was loaded, in milliseconds since the Unix epoch. */
export interface ConfigLoads {
  readonly lastSuccessMs: number;
  /** The last failure since then. */
  readonly lastFailureMs: number | undefined;
  /** Those of the last hour. */
  readonly codeLosses: readonly CodeLoss[];
}

/** A file of service codes that has lost some. */
interface CodeLoss {
  readonly file: string;
  readonly codes: number;
  /** Until then, it had more. */
  readonly untilMs: number;
  readonly before: number;
}

interface CodeFileStatus {
  readonly name: string;
  readonly problems: readonly unknown[];
  readonly codes: readonly unknown[];
}

export interface ExporterMetricsOptions {
  readonly clock: Clock;
  readonly version: string;
  readonly revision: string;
  readonly nodeVersion: string;
  /** Default: the only shard. */
  readonly shard?: Shard;
  /** Accounts of tasks, inputs and outputs. Default: none. */
  readonly accountBudget?: Pick<AccountBudget, 'counts' | 'maxAccounts'>;
  /** Numbers of the state; `undefined` without state. */
  readonly state?: Readonly<StateStatistics> | undefined;
  /** `false` if the state has a folder that cannot be used; `undefined` without a folder. */
  readonly isStateOpen?: boolean | undefined;
  /** When the first certificate of `upstream.cert_file` expires. Default: there is none. */
  readonly getClientCertificateNotAfterMs?: () => number | undefined;
  /** Default: every line is written. */
  readonly log?: { readonly droppedLines: number } | undefined;
}

/** The metrics of the process. Create it once per process, because of `DefaultMetrics`. */
export class ExporterMetrics implements Disposable {
  readonly #options: ExporterMetricsOptions;
  readonly #clock: Clock;
  readonly #defaultMetrics = new DefaultMetrics();
  readonly web = createWebMetrics();
  readonly pollDurations = new Histogram(PROCESS_FAMILIES.pollDuration.buckets);
  readonly #collectVolatile: () => { readonly seconds: number; readonly web: readonly Family[] };
  readonly #collectDefaults: () => Promise<readonly Family[]>;
  /** In monotonic time, as the losses are. */
  #configLoads: Omit<ConfigLoads, 'codeLosses'>;
  #codeFiles: readonly CodeFileStatus[] = [];
  #codeLosses: readonly CodeLoss[] = [];

  /** The configuration has just been loaded. */
  constructor(options: ExporterMetricsOptions) {
    const { clock } = options;
    this.#options = options;
    this.#clock = clock;
    this.#configLoads = { lastSuccessMs: clock.monotonic(), lastFailureMs: undefined };
    this.#collectVolatile = shareFor(VOLATILE_METRICS_MAX_AGE_MS, clock, () => {
      return { seconds: clock.now() / 1000, web: this.web.families };
    });
    this.#collectDefaults = shareFor(DEFAULT_METRICS_MAX_AGE_MS, clock, () =>
      this.#defaultMetrics.collectFamilies(),
    );
  }

  /** Records the result of a load of the configuration; `codeFiles` only if they were applied. */
  recordConfigLoad(isSuccessful: boolean, codeFiles: readonly CodeFileStatus[] = this.#codeFiles): void {
    const nowMs = this.#clock.monotonic();
    this.#updateCodeLosses(codeFiles, nowMs);
    this.#codeFiles = codeFiles;
    this.#configLoads = isSuccessful
      ? { lastSuccessMs: nowMs, lastFailureMs: undefined }
      : { ...this.#configLoads, lastFailureMs: nowMs };
  }

  #updateCodeLosses(codeFiles: readonly CodeFileStatus[], untilMs: number): void {
    const counts = new Map(codeFiles.map(({ name, codes }) => [name, codes.length]));
    const countCodes = (file: string): number => counts.get(file) ?? 0;
    const recent = this.#codeLosses.filter((loss) => untilMs - loss.untilMs < CODE_LOSS_SHOWN_MS);
    const unchanged = recent.filter(({ file, codes }) => countCodes(file) === codes);
    const lost = this.#codeFiles.map(({ name: file, codes: { length: before } }) => {
      return { file, codes: countCodes(file), before, untilMs };
    });
    this.#codeLosses = [...unchanged, ...lost.filter(({ codes, before }) => codes < before)];
  }

  get configLoads(): ConfigLoads {
    const offsetMs = getWallOffsetMs(readInstant(this.#clock));
    const sinceMs = this.#clock.monotonic() - CODE_LOSS_SHOWN_MS;
    const { lastSuccessMs, lastFailureMs } = this.#configLoads;
    return {
      lastSuccessMs: lastSuccessMs + offsetMs,
      lastFailureMs: lastFailureMs === undefined ? undefined : lastFailureMs + offsetMs,
      codeLosses: this.#codeLosses
        .filter(({ untilMs }) => untilMs > sinceMs)
        .map((loss) => ({ ...loss, untilMs: loss.untilMs + offsetMs })),
    };
  }

  /** Collects the families of a process with so many service codes, in the order of the catalogue. */
  async collect(serviceCodes: number): Promise<readonly Family[]> {
    return [
      ...this.#collectProcess(serviceCodes),
      ...this.#collectVolatile().web,
      ...(await this.#collectDefaults()),
    ];
  }

  [Symbol.dispose](): void {
    this.#defaultMetrics[Symbol.dispose]();
  }

  #collectProcess(serviceCodes: number): readonly Family[] {
    const { version, revision, nodeVersion, shard = SINGLE_SHARD } = this.#options;
    const { accountBudget, log, state, isStateOpen } = this.#options;
    const { lastSuccessMs, lastFailureMs } = this.#configLoads;
    const clientCertificateMs = this.#options.getClientCertificateNotAfterMs?.();
    const offsetMs = getWallOffsetMs(readInstant(this.#clock));
    const toTimestamp = (ms: number): number => Math.round(ms + offsetMs) / 1000;
    return toFamilies(PROCESS_FAMILIES, {
      serviceCodes: columnOf(serviceCodes),
      shards: columnOf(shard.count),
      shardIndex: columnOf(shard.index),
      buildInfo: { labelSets: [[version, revision, nodeVersion]], numbers: [1] },
      accounts: columnByLabel(Object.entries(accountBudget?.counts ?? {})),
      accountsLimit: columnOf(accountBudget?.maxAccounts),
      logLinesDropped: columnOf(log?.droppedLines ?? 0),
      memoryLimit: columnOf(readMemoryLimit()),
      configLastReloadSuccessful: columnOf(lastFailureMs === undefined ? 1 : 0),
      configLastReloadSuccess: columnOf(toTimestamp(lastSuccessMs)),
      codeFileValid: columnByLabel(this.#codeFiles.map(toValidity)),
      stateOpen: columnOf(isStateOpen === undefined ? undefined : Number(isStateOpen)),
      stateWriteErrors: columnOf(state?.writeErrors),
      stateDelayedPublications: columnOf(state?.delayedPublications),
      stateLastSuccess: columnOf(state?.lastWriteMs && toTimestamp(state.lastWriteMs)),
      clientCertificateNotAfter: columnOf(clientCertificateMs && clientCertificateMs / 1000),
      pollDuration: [this.pollDurations.toSample()],
      time: columnOf(this.#collectVolatile().seconds),
    });
  }
}

function toValidity({ name, problems }: CodeFileStatus): readonly [label: string, number: number] {
  return [name, problems.length === 0 ? 1 : 0];
}

/** Returns a function that returns what `collect` returned, and calls it again after `maxAgeMs`. */
function shareFor<T>(maxAgeMs: number, clock: Clock, collect: () => T): () => T {
  let last: { readonly atMs: number; readonly value: T } | undefined;
  return () => {
    const nowMs = clock.monotonic();
    if (last === undefined || nowMs - last.atMs >= maxAgeMs) last = { atMs: nowMs, value: collect() };
    return last.value;
  };
}
