import type { StaticLabels } from '../metrics/family.ts';
import type { Shard } from '../sharding/shard.ts';
import type { SigningScheme } from '../upstream/signing.ts';
import type { ListenAddress } from './addresses.ts';
import type { SettingValue } from './settings.ts';

/** One service code with everything a poll of it needs. Times in milliseconds. */
export interface ServiceCodeSettings {
  readonly serviceCode: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly secret: string;
  readonly intervalMs: number;
  /** Deadline of a whole poll. */
  readonly timeoutMs: number;
  readonly staleAfterMs: number;
  readonly stallAfterMs: number;
  /** Labels of every series of it, in the order of their names. */
  readonly labels: StaticLabels;
}

/** PEM texts. `cert` and `key` come together. */
export interface TlsSettings {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Proxies of the process's environment, as curl reads them. */
export interface ProxySettings {
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
  readonly noProxy?: string;
}

export interface UpstreamSettings {
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly maxResponseBytes: number;
  readonly maxConnections: number;
  readonly tls: TlsSettings;
  readonly proxy: ProxySettings;
}

export interface PollSettings {
  readonly mode: SettingValue<'poll.mode'>;
  /** In scrape mode, what was polled less long ago is not polled again. */
  readonly minAgeMs: number;
}

export interface MetricsSettings {
  readonly maxLabelSets: number;
  readonly perTask: boolean;
  readonly maxTasks: number;
}

export interface StateSettings {
  /** Where counters are kept over a restart; nowhere without it. */
  readonly file: string | undefined;
  readonly intervalMs: number;
}

export interface WebSettings {
  readonly listenAddresses: readonly ListenAddress[];
  readonly telemetryPath: string;
  readonly maxRequests: number;
  /** Whether `POST /-/reload` does anything. */
  readonly enableLifecycle: boolean;
  readonly maxConnections: number;
  /** Path of the web configuration file. */
  readonly configFile?: string;
  readonly opensProbes: boolean;
}

interface LogSettings {
  readonly level: SettingValue<'log.level'>;
  readonly format: SettingValue<'log.format'>;
}

/** The whole configuration: parsed, checked, files read, secrets resolved. It never changes. */
export interface Configuration {
  readonly upstream: UpstreamSettings;
  readonly signing: SigningScheme;
  /** What this process polls, each code once. There may be none: in files they may come later, and shards share them. */
  readonly serviceCodes: readonly ServiceCodeSettings[];
  readonly poll: PollSettings;
  readonly shard: Shard;
  /** Service codes that other shards poll. */
  readonly elsewhere: ReadonlySet<string>;
  readonly metrics: MetricsSettings;
  readonly state: StateSettings;
  readonly web: WebSettings;
  readonly log: LogSettings;
}
