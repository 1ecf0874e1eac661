import { z } from 'zod';
import { parseListenAddress } from '../config/addresses.ts';
import { expectedFound } from '../config/config-error.ts';
import { duration, integer } from '../config/schemas.ts';
import { expected, parsedBy, reject } from '../config/validation.ts';
import { waitForAbort } from '../runtime/abort.ts';
import { faultSchema } from '../simulator/faults.ts';
import { startSimulator } from '../simulator/server.ts';
import { createWorld, type PopulationSize } from '../simulator/world.ts';
import { parseFlags } from './command-line.ts';
import { printErrors } from './command.ts';

const USAGE = `Usage: xvs-exporter simulate [flags]

Runs a simulation of the live-video service: users and tasks start and stop, byte counters grow.

  --listen-address=HOST:PORT   address to listen on (default 127.0.0.1:20140)
  --service-code=CODE:SECRET   a service code and its shared secret; repeatable (default TESTING:abc);
                               CODE:SECRET:users=N,tasks=N overrides its number of users and tasks
  --users=N                    average number of users per service code (default 1000)
  --tasks=N                    average number of tasks per service code (default 100)
  --stream=NAME                a task that never ends, with NAME as the "room" of its "opaque"; repeatable
  --seed=N                     seed of the random data (default 1)
  --clock-tolerance=DURATION   largest accepted deviation of a timestamp; 0 accepts any (default 5m)
  --no-gzip                    never compress responses
  --control                    serve /-/faults and /-/totals, without authentication
  --help                       print this help

With --control, inject a fault, and remove it:

  curl -X PUT http://127.0.0.1:20140/-/faults -d '{"fault":"ret","value":1001}'
  curl -X DELETE http://127.0.0.1:20140/-/faults

Kinds of faults, with their parameters (? is optional); each takes serviceCode?, too:

${formatFaults()}
`;

/** Formats each kind of fault with its parameters. */
function formatFaults(): string {
  const lines = faultSchema.options.flatMap((option) => {
    const { properties = {}, required = [] } = z.toJSONSchema(option, { io: 'input' });
    const { fault: _fault, serviceCode: _serviceCode, ...parameters } = properties;
    const texts = Object.entries(parameters).map(([name, schema]) => {
      const { enum: words, type } = typeof schema === 'object' ? schema : {};
      const values = words ?? [type ?? 'integer, string'];
      return `${name}${required.includes(name) ? '' : '?'}: ${values.join(', ')}`;
    });
    return [...option.shape.fault.values].map((kind) => `  ${kind.padEnd(15)}${texts.join('; ')}`.trimEnd());
  });
  return lines.join('\n');
}

/** Where the simulator listens: never on all addresses by accident, so the host is required. */
const listenAddress = parsedBy((raw) => {
  const address = parseListenAddress(raw);
  return address?.host === undefined ? undefined : { host: address.host, port: address.port };
}, expected('HOST:PORT such as 127.0.0.1:20140'));

const SIZES = /^(?:(?:users|tasks)=\d{1,9}(?:,(?!$)|$))+$/;

/** A service code with its secret and the sizes that it overrides. Messages never show the secret. */
const serviceCode = z.string().transform((text, context) => {
  const [name = '', secret = '', sizes, ...rest] = text.split(':');
  if (name === '' || secret === '' || rest.length > 0) {
    // Without a colon, even the first part may be a secret.
    const found = text.includes(':') ? `"${name}:…"` : 'a value without a colon';
    return reject(context, expectedFound('CODE:SECRET or CODE:SECRET:users=N,tasks=N', found));
  }
  // The sizes are not shown: they may be the rest of a secret with a colon.
  if (sizes !== undefined && !SIZES.test(sizes))
    return reject(context, expectedFound(`users=N,tasks=N after the secret of "${name}"`, 'something else'));
  const pairs = (sizes ?? '').split(',').map((pair) => pair.split('='));
  const size: Partial<PopulationSize> = Object.fromEntries(
    pairs.flatMap(([key, value]) => (value === undefined ? [] : [[key, Number(value)]])),
  );
  return { name, secret, size };
});

const serviceCodes = z.array(serviceCode).superRefine((codes, context) => {
  const names = codes.map(({ name }) => name);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined)
    reject(context, expectedFound('each service code once', `"${duplicate}" twice`));
});

const populationSize = integer(0, 999_999_999);

const FLAGS = {
  'listen-address': { kind: 'value', schema: listenAddress.prefault('127.0.0.1:20140') },
  'service-code': { kind: 'list', schema: serviceCodes.prefault(['TESTING:abc']) },
  users: { kind: 'value', schema: populationSize.prefault('1000') },
  tasks: { kind: 'value', schema: populationSize.prefault('100') },
  stream: { kind: 'list', schema: z.array(z.string().min(1, expected('a name'))).prefault([]) },
  seed: { kind: 'value', schema: integer(0, 999_999_999).prefault('1') },
  'clock-tolerance': { kind: 'value', schema: duration(0).prefault('5m') },
  'no-gzip': { kind: 'switch', schema: z.boolean() },
  control: { kind: 'switch', schema: z.boolean() },
  help: { kind: 'switch', schema: z.boolean() },
} as const;

/** Parses the flags of `simulate`. Throws a ConfigError, which shows no secret. */
export function parseSimulateFlags(args: readonly string[]) {
  const flags = parseFlags(args, FLAGS);
  const { users, tasks, stream: streams, seed, help } = flags;
  const codes = flags['service-code'];
  return {
    help,
    listenAddress: flags['listen-address'],
    secretsByServiceCode: new Map(codes.map(({ name, secret }) => [name, secret])),
    sizes: new Map(codes.map(({ name, size }) => [name, { users, tasks, ...size }])),
    users,
    tasks,
    streams,
    seed,
    clockToleranceMs: flags['clock-tolerance'],
    isGzipEnabled: !flags['no-gzip'],
    isControlApiEnabled: flags.control,
  };
}

/** Runs the simulator until the signal aborts. Gives the exit code: 2 for an invalid flag, 1 if it cannot listen. */
export const simulate = printErrors('simulate', async (args, { stdout, signal, clock }) => {
  const { help, ...flags } = parseSimulateFlags(args);
  if (help) {
    stdout.write(USAGE);
    return 0;
  }
  const world = createWorld({ ...flags, startedAtMs: clock.now() });
  await using simulator = await startSimulator({ ...flags, world, clock });
  stdout.write(`Simulating ${[...flags.secretsByServiceCode.keys()].join(', ')} on ${simulator.url}\n`);
  await waitForAbort(signal);
  return 0;
});
