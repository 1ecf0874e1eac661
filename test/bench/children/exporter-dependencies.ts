import { hostname } from 'node:os';
import { systemClock } from '../../../src/runtime/clock.ts';
import type { AppDependencies } from '../../../src/app.ts';
import type { Configuration } from '../../../src/config/configuration.ts';
import { ConfigurationSource } from '../../../src/config/configuration-source.ts';
import { METRIC_LABELS } from '../../../src/metrics/catalogue.ts';
import { createLogger } from '../../../src/runtime/logger.ts';
import { BUILD } from '../../support/build-info.ts';
import { NO_FILES } from '../../support/configuration.ts';

/** The configuration from the environment of this process. */
const SOURCE = new ConfigurationSource({
  flags: new Map(),
  env: process.env,
  hostName: hostname,
  metricLabels: METRIC_LABELS,
  ...NO_FILES,
});

/** Loads the configuration. */
export async function readConfiguration(): Promise<Configuration> {
  return (await SOURCE.load()).configuration;
}

/** The system clock, and a log that is discarded. */
export const DEPENDENCIES: AppDependencies = {
  clock: systemClock,
  source: SOURCE,
  logger: createLogger({ level: 'info', format: 'json', destination: { write: () => undefined } }),
  build: BUILD,
};
