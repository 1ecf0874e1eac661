import { startApp } from '../app.ts';
import { createLogger } from '../log.ts';
import { untilAborted } from './command.ts';
import { configured } from './configured.ts';

/** Runs the exporter until the signal aborts. */
export const serve = configured(async (configuration, build, { stderr, clock, signal }) => {
  const logger = createLogger({ ...configuration.log, destination: stderr });
  logger.info({ ...build, service_codes: configuration.serviceCodes.length }, 'Starting xvs-exporter');
  const app = await startApp(configuration, { clock, logger, build }).catch((error: unknown) => {
    logger.error({ error: error instanceof Error ? error.message : String(error) }, 'Cannot start');
  });
  if (app === undefined) return 1;
  try {
    for (const { host, port } of app.addresses) logger.info({ host, port }, 'Listening');
    await Promise.race([app.failure, untilAborted(signal)]);
    logger.info('Stopping');
    return 0;
  } finally {
    await app[Symbol.asyncDispose]();
  }
});
