import { systemClock } from '../../../src/runtime/clock.ts';
import { startSimulator } from '../../../src/simulator/server.ts';
import { createWorld } from '../../../src/simulator/world.ts';
import { serveCommands } from './command-server.ts';

/** The simulated service, as its command runs it: `codes users tasks`. */
async function simulate([codes = '', users, tasks]: readonly string[]): Promise<void> {
  const simulator = await startSimulator({
    listenAddress: { host: '127.0.0.1', port: 0 },
    world: createWorld({
      seed: 1,
      startedAtMs: systemClock.now(),
      users: Number(users),
      tasks: Number(tasks),
    }),
    secretsByServiceCode: new Map(codes.split(',').map((code) => [code, 'abc'])),
    clock: systemClock,
    clockToleranceMs: 300_000,
    isGzipEnabled: true,
  });
  serveCommands({ address: () => ({ url: simulator.url }) });
}

await simulate(process.argv.slice(2));
