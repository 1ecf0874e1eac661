import { systemClock } from '../../../src/clock.ts';
import type { Outside } from '../../../src/app.ts';
import type { Configuration } from '../../../src/config/configuration.ts';
import { loadConfiguration } from '../../../src/config/loading.ts';
import { createLogger } from '../../../src/log.ts';

/** What the exporter reads of this process's environment, as the program does. */
export function readConfiguration(): Promise<Configuration> {
  return loadConfiguration({
    flags: new Map(),
    env: process.env,
    readFile: () => Promise.reject(new Error('Expected no file to be configured')),
  });
}

/** The machine's time, and a log that no one reads. */
export const OUTSIDE: Outside = {
  clock: systemClock,
  logger: createLogger({ level: 'info', format: 'json', destination: { write: () => undefined } }),
  build: { version: '0.0.0', revision: 'bench', nodeVersion: process.version },
};
