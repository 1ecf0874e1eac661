import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { simulate } from '../../src/commands/simulate.ts';
import { LastWords } from '../../src/last-words.ts';
import { call, wholeAnswer } from './client.ts';
import { NO_FILES } from '../support/configuration.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { noHostName } from '../support/no-host-name.ts';

const nowMs = Date.UTC(2026, 0, 1);

function createIo() {
  const controller = new AbortController();
  const io = {
    stdout: new PassThrough({ encoding: 'utf8' }),
    stderr: new PassThrough({ encoding: 'utf8' }),
    signal: controller.signal,
    clock: new ManualClock(nowMs),
    environment: {},
    files: NO_FILES,
    hostName: noHostName,
    onReload: () => undefined,
    lastWords: new LastWords({ write: (text) => assert.fail(text) }),
  };
  return { io, stop: () => controller.abort() };
}

/** Runs the command on a free port while `use` does its work with what the command printed. */
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

/** What the simulator answers to a signed call. */
async function listingOf(
  simulator: { readonly url: string },
  serviceCode: string,
  secret: string,
  timestampMs = nowMs,
) {
  const { body } = await wholeAnswer(call(simulator, { serviceCode, secret, timestampMs }));
  const listing: { ret: number; user_list: unknown[]; task_list: unknown[] } = JSON.parse(body.toString());
  return [listing.ret, listing.user_list.length, listing.task_list.length];
}

test('it serves until the signal aborts, and prints where and what, but no secret', async () => {
  const exit = await withSimulator(
    ['--service-code=TESTING:s3cret', '--service-code', 'EMPTY:t0psecret:users=0,tasks=0'],
    async (printed, simulator) => {
      assert.match(printed, /^Simulating TESTING, EMPTY on http:\/\/127\.0\.0\.1:\d+\n$/);
      const [ret, users = 0, tasks = 0] = await listingOf(simulator, 'TESTING', 's3cret');
      assert.equal(ret, 0);
      assert.ok(users > 900 && users < 1100 && tasks > 70 && tasks < 130, `${users} users, ${tasks} tasks`);
      assert.deepEqual(await listingOf(simulator, 'EMPTY', 't0psecret'), [0, 0, 0]);
    },
  );
  assert.equal(exit, 0);
});

test('a size of its own may name users or tasks alone', async () => {
  await withSimulator(['--service-code=A:b:tasks=0', '--users=10'], async (_, simulator) => {
    const [ret, users = 0, tasks] = await listingOf(simulator, 'A', 'b');
    assert.deepEqual([ret, tasks], [0, 0]);
    assert.ok(users > 0 && users < 14);
  });
});

for (const [flag, offsetMs, ret] of [
  ['--clock-tolerance=5m', 300_001, 1004],
  ['--clock-tolerance=500ms', 501, 1004],
  ['--clock-tolerance=15s', 15_000, 0],
  ['--clock-tolerance=1h', 3_600_000, 0],
  ['--clock-tolerance=0', 9_999_999_999, 0],
] as const) {
  test(`${flag}: a timestamp that is off by ${offsetMs} ms gets ret ${ret}`, async () => {
    await withSimulator([flag], async (_, simulator) => {
      assert.equal((await listingOf(simulator, 'TESTING', 'abc', nowMs - offsetMs))[0], ret);
    });
  });
}

for (const [args, status] of [
  [[], 404],
  [['--control'], 200],
] as const) {
  test(`with the flags [${args.join(' ')}], /-/faults gets ${status}`, async () => {
    await withSimulator(args, async (_, simulator) => {
      assert.equal((await fetch(`${simulator.url}/-/faults`)).status, status);
    });
  });
}

for (const [args, encoding] of [
  [[], 'gzip'],
  [['--no-gzip'], undefined],
] as const) {
  test(`with the flags [${args.join(' ')}], the content encoding is ${encoding ?? 'none'}`, async () => {
    await withSimulator(args, async (_, simulator) => {
      const credentials = { serviceCode: 'TESTING', secret: 'abc', timestampMs: nowMs };
      const { headers } = await wholeAnswer(call(simulator, credentials, { 'accept-encoding': 'gzip' }));
      assert.equal(headers['content-encoding'], encoding);
    });
  });
}

test('a signal that has aborted already ends it', async () => {
  const { io, stop } = createIo();
  stop();
  assert.equal(await simulate(['--listen-address=127.0.0.1:0'], io), 0);
});

test('--help prints the flags', async () => {
  const { io } = createIo();
  assert.equal(await simulate(['--help'], io), 0);
  assert.match(String(io.stdout.read()), /^Usage: xvs-exporter simulate/);
});

test('an address that cannot be had is one line on stderr and exit code 1', async () => {
  await withSimulator([], async (_, simulator) => {
    const { io } = createIo();
    const { host } = new URL(simulator.url);
    assert.equal(await simulate([`--listen-address=${host}`], io), 1);
    assert.match(String(io.stderr.read()), /^simulate: listen EADDRINUSE: .*\n$/);
  });
});

const anInteger = 'expected an integer from 0 to 999999999';
const aDuration = 'expected a duration, as in 500ms, 15s, 5m or 1h, or 0 for none';
const anAddress = 'expected HOST:PORT, as in 127.0.0.1:20140';
const aCode = 'expected CODE:SECRET or CODE:SECRET:users=N,tasks=N';
const mistakes: readonly (readonly [readonly string[], string])[] = [
  [['--users=many'], `--users: ${anInteger}, found "many"`],
  [['--tasks=-1'], `--tasks: ${anInteger}, found "-1"`],
  [['--seed='], `--seed: ${anInteger}, found ""`],
  [['--clock-tolerance=5'], `--clock-tolerance: ${aDuration}, found "5"`],
  [['--clock-tolerance=5w'], `--clock-tolerance: ${aDuration}, found "5w"`],
  [['--listen-address=20140'], `--listen-address: ${anAddress}, found "20140"`],
  [['--listen-address=127.0.0.1:99999'], `--listen-address: ${anAddress}, found "127.0.0.1:99999"`],
  [['--service-code=s3cret'], `--service-code: ${aCode}, found a value without a colon`],
  [['--service-code=A:'], `--service-code: ${aCode}, found "A:…"`],
  [['--service-code=:s3cret'], `--service-code: ${aCode}, found ":…"`],
  [['--service-code=A:s3cret:users=1:x'], `--service-code: ${aCode}, found "A:…"`],
  [
    ['--service-code=A:b:s3cret'],
    '--service-code=A:…: expected users=N,tasks=N after the secret, found something else',
  ],
  [
    ['--service-code=A:b', '--service-code=A:c'],
    '--service-code: expected each service code once, found "A" twice',
  ],
  [['--service-codes=A:s3cret'], '--service-codes: expected a known flag (see --help), found an unknown one'],
  [['-v'], '-v: expected a known flag (see --help), found an unknown one'],
  [['A:s3cret'], 'arguments: expected only flags of the form --name=value, found one that is no flag'],
  [['--users'], '--users: expected a value, as in --users=value, found none'],
  [['--users', '--control'], '--users: expected a value, as in --users=value, found none'],
  [['--control=s3cret'], '--control: expected no value, found one'],
];

for (const [args, message] of mistakes) {
  test(`[${args.join(' ')}] is one line on stderr and exit code 2`, async () => {
    const { io } = createIo();
    assert.equal(await simulate(args, io), 2);
    assert.equal(io.stderr.read(), `simulate: ${message}\n`);
    assert.equal(io.stdout.read(), null);
  });
}
