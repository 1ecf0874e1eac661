import { parseArgs } from 'node:util';
import { z } from 'zod';
import { parseDuration } from '../../src/config/units.ts';
import type { PopulationSize } from './world.ts';

export const USAGE = `Usage: npm run simulate -- [flags]

Runs a simulation of the live-video service: users and tasks start and stop, byte counters grow.

  --listen-address=HOST:PORT   address to listen on (default 127.0.0.1:20140)
  --service-code=CODE:SECRET   a service code and its shared secret; repeatable (default TESTING:abc);
                               CODE:SECRET:users=N,tasks=N overrides its number of users and tasks
  --users=N                    average number of users per service code (default 1000)
  --tasks=N                    average number of tasks per service code (default 100)
  --stream=NAME                a task that never ends, with NAME as the "room" of its "opaque"; repeatable
  --seed=N                     seed of the random data (default 1)
  --clock-tolerance=DURATION   largest accepted deviation of a timestamp; 0 accepts any (default 5m)
  --help                       print this help

If http_proxy is set, set no_proxy=127.0.0.1 for the exporter and for curl.

Inject a fault, and remove it:

  curl -X PUT http://127.0.0.1:20140/-/faults -d '{"fault":"ret","value":1001}'
  curl -X DELETE http://127.0.0.1:20140/-/faults

Faults, with their parameters (? is optional); each takes serviceCode?, too:

  refuse          closes the connection without a response
  reset_headers   resets the connection (TCP RST)
  silence         never responds
  reset_body      sends headers and a part of the body, then resets the connection
  silence_body    sends headers and a part of the body, then stops sending
  drip            sends the body at one byte per second
  truncate        ends the body early, with correct HTTP framing
  http_status     responds with status; retryAfter?; body?: json, html
  redirect        responds with 302; location?
  ret             responds with a ret of value and no entries
  html, empty     responds with a page, or with no body
  bad_gzip        declares plain text as gzip
  bad_list        removes list: user_list, task_list, or replaces it by form?: missing, null, object
  bad_record      corrupts every?-th user and task
  bad_field       gives a field of every?-th user and task a wrong type
  huge            sends white space before the listing: bytes? of it, or without end
  clock_skew      sets the clock of the service wrong by ms
  freeze_ingest   stops all tasks, or those of taskId? or name?: they receive and deliver nothing
  slow_ingest     the same, but they receive and deliver a third
`;

const natural = z
  .string()
  .regex(/^\d{1,9}$/, 'expected an integer from 0 to 999999999')
  .transform(Number);

const listenAddress = z
  .string()
  .regex(/^.+:\d{1,5}$/, 'expected HOST:PORT such as 127.0.0.1:20140')
  .transform((text) => {
    const colon = text.lastIndexOf(':');
    return { host: text.slice(0, colon).replaceAll(/[[\]]/g, ''), port: Number(text.slice(colon + 1)) };
  });

const serviceCode = z
  .string()
  .regex(
    /^[^:]+:[^:]+(?::(?:users|tasks)=\d{1,9}(?:,(?:users|tasks)=\d{1,9})?)?$/,
    'expected CODE:SECRET or CODE:SECRET:users=N,tasks=N',
  )
  .transform((text) => {
    const [name = '', secret = '', sizes = ''] = text.split(':');
    const pairs = [...sizes.matchAll(/(\w+)=(\d+)/g)].map(([, key = '', count]) => [key, Number(count)]);
    const size: Partial<PopulationSize> = Object.fromEntries(pairs);
    return { name, secret, size };
  });

const flagsSchema = z.object({
  'listen-address': listenAddress,
  'service-code': z.array(serviceCode),
  users: natural,
  tasks: natural,
  stream: z.array(z.string()),
  seed: natural,
  'clock-tolerance': z.string().transform((text, context) => {
    const ms = parseDuration(text);
    if (ms === undefined) context.addIssue('expected a duration such as 5m');
    return ms ?? 0;
  }),
  help: z.boolean(),
});

/** Parses the flags of the simulator. Throws an error with one sentence. */
export function parseSimulatorFlags(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'listen-address': { type: 'string', default: '127.0.0.1:20140' },
      'service-code': { type: 'string', multiple: true, default: ['TESTING:abc'] },
      users: { type: 'string', default: '1000' },
      tasks: { type: 'string', default: '100' },
      stream: { type: 'string', multiple: true, default: [] },
      seed: { type: 'string', default: '1' },
      'clock-tolerance': { type: 'string', default: '5m' },
      help: { type: 'boolean', default: false },
    },
  });
  const { data: flags, error } = flagsSchema.safeParse(values);
  if (flags === undefined) {
    const [issue] = error.issues;
    throw new Error(`--${String(issue?.path[0])}: ${issue?.message}`);
  }
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
  };
}
