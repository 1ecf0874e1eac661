import { setImmediate as nextTurn } from 'node:timers/promises';
import { startApp, type App } from '../app.ts';
import { ConfigError } from '../config/config-error.ts';
import { waitForAbort } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import { getErrorMessage } from '../runtime/errors.ts';
import { createLogger } from '../runtime/logger.ts';
import { DatabaseError } from '../state/level-database.ts';
import { withConfiguration } from './command.ts';

/** Runs the exporter until the signal aborts. Rejects immediately on an unexpected error. */
export const serve = withConfiguration(async ({ configuration, build, source, warnings }, io) => {
  const { log, clock, signal, reportTo } = io;
  const { serviceCodes, shard } = configuration;
  const logger = createLogger({ ...configuration.log, destination: log });
  reportTo(logger);
  const fields = {
    version: build.version,
    revision: build.revision,
    node_version: build.nodeVersion,
    service_codes: serviceCodes.length,
    ...(shard.count > 1 && { shard: shard.index, shards: shard.count }),
  };
  logger.info(fields, 'Starting xvs-exporter');
  // The result of a write to a pipe is reported in a later turn of the event loop.
  await nextTurn();
  // Later failures only drop lines, but a process that never logs anything would hide its mistakes.
  if (log.droppedLines > 0) return 1;
  for (const warning of warnings) logger.warn({ warning }, 'Questionable configuration');
  let app: App;
  try {
    app = await startApp(configuration, { clock, logger, log, build, source });
  } catch (error) {
    logger.error({ err: getErrorMessage(error) }, 'Startup failed');
    return error instanceof ConfigError || isUnusableState(error) ? 2 : 1;
  }
  io.onReload(() => void app.reload('signal'));
  for (const { host, port, socketPath } of app.addresses)
    logger.info(socketPath === undefined ? { host, port } : { unix_socket: socketPath }, 'Listening');
  // After a failure the app is not disposed of: disposal might hang, and the served data would be stale.
  await Promise.race([app.failure, waitForAbort(signal)]);
  logger.info('Shutting down');
  if (await shutDownInTime(app, clock)) return 0;
  logger.error({ timeout_ms: SHUTDOWN_TIMEOUT_MS }, 'Shutdown timed out');
  return 1;
});

/** Whether every restart fails until an operator changes something. */
function isUnusableState(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === 'unusable';
}

/** Longer than the web server waits for its clients, shorter than Docker before it kills (10 s). */
const SHUTDOWN_TIMEOUT_MS = 8000;

/** Returns false after the timeout: a file system that hangs would block the shutdown forever. */
async function shutDownInTime(app: App, clock: Clock): Promise<boolean> {
  const disposed = app[Symbol.asyncDispose]().then(() => true);
  return await Promise.race([disposed, clock.sleep(SHUTDOWN_TIMEOUT_MS).then(() => false)]);
}
