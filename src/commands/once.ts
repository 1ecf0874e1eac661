import { createExporter } from '../app.ts';
import { createLogger } from '../log.ts';
import { Exposition } from '../metrics/exposition.ts';
import { configured } from './configured.ts';

/** Polls every service code once and prints the exposition; exit code 1 if one of them failed. */
export const once = configured(async ({ configuration, build }, { stdout, stderr, clock, signal }) => {
  const logger = createLogger({ ...configuration.log, destination: stderr });
  await using exporter = createExporter(configuration, { clock, logger, build });
  await exporter.poller.pollOnce(signal);
  stdout.write(new Exposition().render(await exporter.view.collect(), 'text'));
  return exporter.store.states.every(({ isUp }) => isUp === true) ? 0 : 1;
});
