import { subscribe } from 'node:diagnostics_channel';
import { systemClock } from '../../../src/runtime/clock.ts';
import { startSimulator } from '../../../src/simulator/server.ts';
import { createWorld } from '../../../src/simulator/world.ts';
import { serveCommands } from './command-server.ts';

/** The simulated service, as its command runs it, which counts the calls of each second: `codes users tasks`. */
async function simulate([codes = '', users, tasks]: readonly string[]): Promise<void> {
  let startMs = performance.now();
  let calls: number[] = [];
  subscribe('http.server.request.start', () => {
    const second = Math.floor((performance.now() - startMs) / 1000);
    calls[second] = (calls[second] ?? 0) + 1;
  });
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
  serveCommands({
    address: () => ({ url: simulator.url }),
    begin: () => {
      startMs = performance.now();
      calls = [];
      return {};
    },
    /** Calls in each whole second since then. */
    end: () => {
      const seconds = Math.floor((performance.now() - startMs) / 1000);
      return { calls: Array.from({ length: seconds }, (_, second) => calls[second] ?? 0) };
    },
  });
}

await simulate(process.argv.slice(2));
