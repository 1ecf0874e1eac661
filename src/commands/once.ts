import { createExporter } from '../app.ts';
import { createLogger } from '../log.ts';
import { Exposition } from '../metrics/exposition.ts';
import { configured } from './configured.ts';
import { explainPolls } from './explain.ts';
import { Progress } from './progress.ts';

/**
 * Polls every service code once and prints the exposition, or with `--explain` what was to be seen of each poll;
 * exit code 1 if one of them failed.
 */
export const once = configured(
  async ({ configuration, build, switches }, io) => {
    if (configuration.serviceCodes.length === 0) io.stderr.write(NOTHING_TO_POLL);
    if (switches.has('explain')) return await explainPolls(configuration, build, io);
    const { stdout, stderr, clock, signal } = io;
    using progress = isTerminal(stderr) ? new Progress(stderr, clock) : undefined;
    const logger = createLogger({ ...configuration.log, destination: progress ?? stderr });
    await using exporter = createExporter(configuration, {
      clock,
      logger,
      build,
      ...(progress !== undefined && { watchListing: progress.watch }),
    });
    await exporter.poller.pollOnce(signal);
    progress?.[Symbol.dispose]();
    stdout.write(new Exposition().render(await exporter.view.collect(), 'text'));
    return exporter.store.states.every(({ isUp }) => isUp === true) ? 0 : 1;
  },
  ['explain'],
);

const NOTHING_TO_POLL = 'There is no service code to poll: service_code_files names none by now.\n';

function isTerminal(stream: NodeJS.WritableStream): boolean {
  return 'isTTY' in stream && stream.isTTY === true;
}
