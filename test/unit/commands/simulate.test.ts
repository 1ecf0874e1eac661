import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { simulate } from '../../../src/commands/simulate.ts';
import { LogOutput } from '../../../src/runtime/log-output.ts';
import { requestTaskList, readResponse } from '../simulator/client.ts';
import { NO_FILES, failHostNameLookup } from '../../support/configuration.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const nowMs = Date.UTC(2026, 0, 1);

function createIo() {
  const controller = new AbortController();
  const stderr = new PassThrough({ encoding: 'utf8' });
  const io = {
    stdout: new PassThrough({ encoding: 'utf8' }),
    stderr,
    log: new LogOutput(stderr),
    signal: controller.signal,
    clock: new ManualClock(nowMs),
    environment: {},
    files: NO_FILES,
    hostName: failHostNameLookup,
    onReload: () => undefined,
    reportFatalErrorsTo: () => assert.fail('no logger'),
  };
  return { io, stop: () => controller.abort() };
}

/** Runs the command on a free port, and calls `use` with its output. */
async function withSimulator(
  args: readonly string[],
  use: (printed: string, simulator: { readonly url: string }) => Promise<void>,
): Promise<number> {
  const { io, stop } = createIo();
  const exit = simulate(['--listen-address=127.0.0.1:0', ...args], io);
  const [printed]: unknown[] = await once(io.stdout, 'data');
  try {
    await use(String(printed), { url: / on (\S+)\n$/.exec(String(printed))?.[1] ?? '' });
  } finally {
    stop();
  }
  return exit;
}

/** Sends a signed request. */
async function requestListing(
  simulator: { readonly url: string },
  serviceCode: string,
  secret: string,
  timestampMs = nowMs,
) {
  const { body } = await readResponse(requestTaskList(simulator, { serviceCode, secret, timestampMs }));
  const listing: { ret: number; user_list: unknown[]; task_list: unknown[] } = JSON.parse(body.toString());
  return [listing.ret, listing.user_list.length, listing.task_list.length];
}

test('it serves until the signal aborts, and prints its URL and service codes without secrets', async () => {
  const exit = await withSimulator(
    ['--service-code=TESTING:s3cret', '--service-code', 'SMALL:t0psecret:tasks=0', '--users=1000'],
    async (printed, simulator) => {
      assert.match(printed, /^Simulating TESTING, SMALL on http:\/\/127\.0\.0\.1:\d+\n$/);
      const [ret, users = 0, tasks = 0] = await requestListing(simulator, 'TESTING', 's3cret');
      assert.equal(ret, 0);
      assert.ok(users > 900 && users < 1100 && tasks > 70 && tasks < 130, `${users} users, ${tasks} tasks`);
      const [, ofSmall = 0, none] = await requestListing(simulator, 'SMALL', 't0psecret');
      assert.ok(ofSmall > 900 && none === 0);
    },
  );
  assert.equal(exit, 0);
});

for (const [flag, offsetMs, ret] of [
  ['--clock-tolerance=5m', 300_001, 1004],
  ['--clock-tolerance=0', 9_999_999_999, 0],
] as const) {
  test(`${flag}: a timestamp that is off by ${offsetMs} ms gets ret ${ret}`, async () => {
    await withSimulator([flag], async (_, simulator) => {
      assert.equal((await requestListing(simulator, 'TESTING', 'abc', nowMs - offsetMs))[0], ret);
    });
  });
}

for (const [args, encoding, status] of [
  [[], 'gzip', 404],
  [['--no-gzip', '--control'], undefined, 200],
] as const) {
  test(`with [${args.join(' ')}], the content encoding is ${encoding ?? 'none'}, and /-/faults gets ${status}`, async () => {
    await withSimulator(args, async (_, simulator) => {
      const credentials = { serviceCode: 'TESTING', secret: 'abc', timestampMs: nowMs };
      const { headers } = await readResponse(
        requestTaskList(simulator, credentials, { 'accept-encoding': 'gzip' }),
      );
      assert.equal(headers['content-encoding'], encoding);
      assert.equal((await fetch(`${simulator.url}/-/faults`)).status, status);
    });
  });
}

test('an aborted signal stops it immediately', async () => {
  const { io, stop } = createIo();
  stop();
  assert.equal(await simulate(['--listen-address=127.0.0.1:0'], io), 0);
});

test('an address in use gives one line on stderr and exit code 1', async () => {
  await withSimulator([], async (_, simulator) => {
    const { io } = createIo();
    const { host } = new URL(simulator.url);
    assert.equal(await simulate([`--listen-address=${host}`], io), 1);
    assert.match(String(io.stderr.read()), /^simulate: listen EADDRINUSE: .*\n$/);
  });
});

const expectedInteger = 'expected an integer from 0 to 999999999';
const expectedAddress = 'expected HOST:PORT such as 127.0.0.1:20140';
const expectedCode = 'expected CODE:SECRET or CODE:SECRET:users=N,tasks=N';
const invalidFlags: readonly (readonly [readonly string[], string])[] = [
  [['--tasks=-1'], `flag --tasks: ${expectedInteger}, found "-1"`],
  [['--listen-address=:20140'], `flag --listen-address: ${expectedAddress}, found ":20140"`],
  [
    ['--listen-address=127.0.0.1:99999'],
    `flag --listen-address: ${expectedAddress}, found "127.0.0.1:99999"`,
  ],
  [['--service-code=s3cret'], `flag --service-code, entry 1: ${expectedCode}, found a value without a colon`],
  [['--service-code=A:'], `flag --service-code, entry 1: ${expectedCode}, found "A:…"`],
  [['--service-code=A:s3cret:users=1:x'], `flag --service-code, entry 1: ${expectedCode}, found "A:…"`],
  [
    ['--service-code=A:b:s3cret'],
    'flag --service-code, entry 1: expected users=N,tasks=N after the secret of "A", found something else',
  ],
  [
    ['--service-code=A:b', '--service-code=A:c'],
    'flag --service-code: expected each service code once, found "A" twice',
  ],
];

for (const [args, message] of invalidFlags) {
  test(`[${args.join(' ')}] gives one line on stderr and exit code 2`, async () => {
    const { io } = createIo();
    assert.equal(await simulate(args, io), 2);
    assert.equal(io.stderr.read(), `simulate: ${message}\n`);
    assert.equal(io.stdout.read(), null);
  });
}
