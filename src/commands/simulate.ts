import { startSimulator } from '../simulator/server.ts';
import { createWorld } from '../simulator/world.ts';
import { untilAborted, type CommandIo } from './command.ts';
import { FlagError, parseSimulateFlags, type SimulateFlags } from './simulate-flags.ts';

const usage = `Usage: xvs-exporter simulate [flags]

Runs a simulation of the live-video service: users and tasks come and go, bytes grow.

  --listen-address=HOST:PORT   where to listen (default 127.0.0.1:20140)
  --service-code=CODE:SECRET   a service code and its shared secret; repeatable (default TESTING:abc);
                               CODE:SECRET:users=N,tasks=N gives it a size of its own
  --users=N                    mean number of users online, per service code (default 1000)
  --tasks=N                    mean number of tasks alive, per service code (default 100)
  --seed=N                     another seed, another world (default 1)
  --clock-tolerance=DURATION   how far a timestamp may be from the clock; 0 accepts any (default 5m)
  --no-gzip                    never compress
  --control                    serve /-/faults and /-/account, to whoever can reach the address
  --help                       print this
`;

/** Runs the simulator until the signal aborts. Gives the exit code: 2 for a wrong flag, 1 if it cannot listen. */
export async function simulate(args: readonly string[], io: CommandIo): Promise<number> {
  const flags = readFlags(args, io);
  if (flags === undefined) return 2;
  if (flags.help) {
    io.stdout.write(usage);
    return 0;
  }
  try {
    await run(flags, io);
    return 0;
  } catch (error) {
    io.stderr.write(`simulate: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

function readFlags(args: readonly string[], { stderr }: CommandIo): SimulateFlags | undefined {
  try {
    return parseSimulateFlags(args);
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    stderr.write(`simulate: ${error.message}\n`);
    return undefined;
  }
}

async function run(flags: SimulateFlags, { stdout, signal, clock }: CommandIo): Promise<void> {
  const world = createWorld({ ...flags, startedAtMs: clock.now() });
  await using simulator = await startSimulator({ ...flags, world, clock });
  stdout.write(`Simulating ${[...flags.codes.keys()].join(', ')} on ${simulator.url}\n`);
  await untilAborted(signal);
}
