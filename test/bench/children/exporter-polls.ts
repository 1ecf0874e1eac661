import { createExporter } from '../../../src/app.ts';
import { DEPENDENCIES, readConfiguration } from './exporter-dependencies.ts';
import { servePollCommands } from './poll-commands.ts';

/** Polls once, as the exporter does: client with signature, reader, tally and store. */
async function poll(): Promise<void> {
  await exporter.poller.pollOnce(new AbortController().signal);
  const [state] = exporter.store.states;
  if (state?.lastPoll === undefined || state.failure !== undefined)
    throw new Error(`Expected a good poll, found ${state?.failure?.reason}`);
}

const exporter = createExporter(await readConfiguration(), DEPENDENCIES);
servePollCommands(poll);
