import { createHookedFileSystem } from '../../../unit/state/state-fixtures.ts';
import { INTERVAL_MS, StoreHarness, type Totals } from '../../../unit/state/store-fixtures.ts';

/*
 * Arguments: the path of a state file, a number N, and the bytes of the first listing. Opens the state and publishes
 * listings, two of them while a snapshot is written. Stops before the Nth file operation, or in the middle of it if it
 * is a write. Sends the published totals and the name of the operation ("none" after the last one), and then waits until
 * the test kills it.
 */

const TASKS = 300;

// Keeps the process alive until it is killed.
process.channel?.ref();

const [path = '', stopAt = '', firstBytes = ''] = process.argv.slice(2);

async function send(message: Totals | string): Promise<void> {
  await new Promise((resolve) => process.send?.(message, resolve));
}

let operations = 0;
const files = createHookedFileSystem(async (operation, run, args) => {
  operations += 1;
  if (operations !== Number(stopAt)) return;
  const [buffer, offset, length, position] = args;
  if (operation === 'write') await run(buffer, offset, Number(length) >> 1, position);
  await send(operation);
  await new Promise(() => undefined);
});

const harness = await StoreHarness.start(path, ['TESTING'], files);
let bytes = Number(firstBytes);
async function publish(): Promise<void> {
  bytes += 1;
  const names = Array.from({ length: TASKS }, (_, number) => `v${number % 20}/task-${number}`);
  await send(await harness.publish('TESTING', Object.fromEntries(names.map((name) => [name, bytes]))));
}
await publish();
harness.clock.advance(INTERVAL_MS);
await publish();
await new Promise(setImmediate);
await publish();
while (harness.snapshotCount < 2) await new Promise(setImmediate);
await publish();
await send('none');
await new Promise(() => undefined);
