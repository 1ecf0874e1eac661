import { createExporter } from '../app.ts';
import { createLogger } from '../log.ts';
import { Exposition } from '../metrics/exposition.ts';
import { configured } from './configured.ts';
import { explainPolls } from './explain.ts';

/**
 * Polls every service code once and prints the exposition, or with `--explain` what was to be seen of each poll;
 * exit code 1 if one of them failed.
 */
export const once = configured(
  async (configuration, build, io, switches) => {
    if (switches.has('explain')) return await explainPolls(configuration, build, io);
    const { stdout, stderr, clock, signal } = io;
    const logger = createLogger({ ...configuration.log, destination: stderr });
    await using exporter = createExporter(configuration, { clock, logger, build });
    await exporter.poller.pollOnce(signal);
    stdout.write(new Exposition().render(await exporter.view.collect(), 'text'));
    return exporter.store.states.every(({ isUp }) => isUp === true) ? 0 : 1;
  },
  ['explain'],
);
