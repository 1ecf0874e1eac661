import { startApp, type App } from '../app.ts';
import type { Clock } from '../clock.ts';
import { createLogger } from '../log.ts';
import { untilAborted } from './command.ts';
import { configured } from './configured.ts';

/** Runs the exporter until the signal aborts; rejects at once when something is wrong with the program. */
export const serve = configured(async ({ configuration, build, source }, io) => {
  const { stderr, clock, signal, lastWords } = io;
  const logger = createLogger({ ...configuration.log, destination: stderr });
  lastWords.logTo(logger);
  const { index, count } = configuration.shard;
  const share = {
    service_codes: configuration.serviceCodes.length,
    ...(count > 1 && { shard: index, shards: count }),
  };
  logger.info({ ...build, ...share }, 'Starting xvs-exporter');
  const app = await startApp(configuration, { clock, logger, build, source }).catch((error: unknown) => {
    logger.error({ error: error instanceof Error ? error.message : String(error) }, 'Cannot start');
  });
  if (app === undefined) return 1;
  io.onReload(() => void app.reload('signal'));
  for (const { host, port } of app.addresses) logger.info({ host, port }, 'Listening');
  // Not disposed of on a failure: who knows what would still end, and what is served until then is old.
  await Promise.race([app.failure, untilAborted(signal)]);
  logger.info('Stopping');
  if (await endsInTime(app, clock)) return 0;
  logger.error('Ending, though not everything has come to its end');
  return 1;
});

/** Longer than the web server gives its clients, and shorter than whoever started this process is going to wait. */
const END_TIMEOUT_MS = 8000;

/** A file system that does not answer, for one, could hold up the end for ever. */
async function endsInTime(app: App, clock: Clock): Promise<boolean> {
  const ended = app[Symbol.asyncDispose]().then(() => true);
  return await Promise.race([ended, clock.sleep(END_TIMEOUT_MS).then(() => false)]);
}
