import type { Family } from '../metrics/family.ts';
import type { PollErrorReason } from '../upstream/errors.ts';

/** What the status page says of one service code; what is not known yet is `undefined`. */
export interface ServiceCodeStatus {
  readonly serviceCode: string;
  /** Whether the last poll succeeded; `undefined` before the first has ended. */
  readonly up: boolean | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly lastPollMs?: number | undefined;
  readonly lastSuccessMs?: number | undefined;
  /** Counts of the last good listing. */
  readonly users?: number | undefined;
  readonly tasks?: number | undefined;
  readonly lastError?: PollErrorReason | undefined;
}

/** What the web server may ask of the exporter. */
export interface ExporterView {
  readonly version: string;
  /** The families to expose, each once; for a set of service codes, what carries one of them. */
  collect(serviceCodes?: ReadonlySet<string>): Promise<readonly Family[]>;
  hasServiceCode(serviceCode: string): boolean;
  /** Whether the polls go on, whatever they come to. */
  isHealthy(): boolean;
  /** Whether the first round of polls is over. */
  isReady(): boolean;
  status(): readonly ServiceCodeStatus[];
}
