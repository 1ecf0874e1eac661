import { systemClock } from '../../../src/runtime/clock.ts';
import { startSimulator } from '../../simulator/server.ts';
import { createWorld } from '../../simulator/world.ts';
import { serveCommands } from './command-server.ts';

/** The simulated service, as its command runs it: `codes users tasks stream…`. */
async function simulate([codes = '', users, tasks, ...streams]: readonly string[]): Promise<void> {
  const simulator = await startSimulator({
    world: createWorld({
      seed: 1,
      startedAtMs: systemClock.now(),
      users: Number(users),
      tasks: Number(tasks),
      streams,
    }),
    secretsByServiceCode: new Map(codes.split(',').map((code) => [code, 'abc'])),
  });
  serveCommands({ address: () => ({ url: simulator.url }) });
}

await simulate(process.argv.slice(2));
