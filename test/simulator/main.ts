// Runs the simulator until SIGINT or SIGTERM.
import { waitForAbort } from '../../src/runtime/abort.ts';
import { getErrorCode, getErrorMessage } from '../../src/runtime/errors.ts';
import { abortOnSignals } from '../../src/runtime/signals.ts';
import { parseSimulatorFlags, USAGE } from './flags.ts';
import { startSimulator } from './server.ts';
import { createWorld } from './world.ts';

async function run(): Promise<void> {
  const { help, ...flags } = parseSimulatorFlags(process.argv.slice(2));
  if (help) {
    process.stdout.write(USAGE);
    return;
  }
  const signal = abortOnSignals(process);
  const world = createWorld({ ...flags, startedAtMs: Date.now() });
  await using simulator = await startSimulator({ ...flags, world });
  process.stdout.write(
    `Simulating ${[...flags.secretsByServiceCode.keys()].join(', ')} on ${simulator.url}\n`,
  );
  await waitForAbort(signal);
}

try {
  await run();
} catch (error) {
  const isTaken = getErrorCode(error) === 'EADDRINUSE';
  const message = isTaken
    ? 'The address is in use; choose one with --listen-address'
    : getErrorMessage(error);
  process.stderr.write(`simulate: ${message}\n`);
  process.exitCode = 1;
}
