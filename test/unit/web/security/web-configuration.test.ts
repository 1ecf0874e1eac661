import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { createLogger } from '../../../../src/runtime/logger.ts';
import {
  openWebConfiguration,
  watchWebConfiguration,
} from '../../../../src/web/security/web-configuration.ts';
import { catchConfigErrorMessage, NO_FILES } from '../../../support/configuration.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { waitForValue, waitUntil } from '../../../support/wait-until.ts';
import { HASH } from './web-configuration-cases.ts';

const PATH = '/etc/web.yml';
const users = (...names: readonly string[]): string =>
  `basic_auth_users: { ${names.map((name) => `${name}: ${HASH}`).join(', ')} }`;

/** Opens a source that reads one file; `undefined` for a missing one. */
async function open(first: string | undefined) {
  let text = first;
  let checks = 0;
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  const readFile = (): Promise<string> =>
    text === undefined
      ? Promise.reject(Object.assign(new Error('none'), { code: 'ENOENT' }))
      : Promise.resolve(text);
  const readStamp = (): Promise<string> => {
    checks += 1;
    return readFile();
  };
  const files = { ...NO_FILES, readFile, readStamp };
  const logger = createLogger({ level: 'debug', format: 'json', destination });
  const source = await openWebConfiguration(PATH, files, systemClock, logger);
  return {
    source,
    lines,
    checks: () => checks,
    /** Replaces the file and returns the users in force after a check. */
    usersAfter: async (next: string | undefined): Promise<readonly string[]> => {
      text = next;
      await source.check();
      return [...source.current.users.keys()];
    },
  };
}

test('an invalid file at the start is an error', async () => {
  const message = await catchConfigErrorMessage(() => open('junk: 1'));
  assert.match(message, /^\/etc\/web\.yml:1:1 junk: expected one of tls_server_config, /);
});

test('a change is applied and logged once', async () => {
  const { usersAfter, lines } = await open(users('a'));
  assert.deepEqual(await usersAfter(users('a', 'b')), ['a', 'b']);
  assert.deepEqual(await usersAfter(users('a', 'b')), ['a', 'b']);
  assert.equal(lines.length, 2);
  assert.match(lines[1] ?? '', /"level":"info".*"tls":false,"users":2,"msg":"Web configuration loaded"/);
});

test('an invalid change is ignored and logged once for each version', async () => {
  const { usersAfter, lines } = await open(users('a'));
  const versions = ['junk: 1', 'junk: 1', 'junk: 2', undefined, undefined, `junk: ${HASH}`];
  for (const version of versions) assert.deepEqual(await usersAfter(version), ['a']);
  assert.equal(lines.length, 5);
  for (const line of lines.slice(1))
    assert.match(line, /"level":"error".*"err":.*reload failed; keeping the previous one"/);
  assert.ok(!lines.join('').includes(HASH));
  assert.deepEqual(await usersAfter(users('b')), ['b']);
});

test('an empty file, as during a write, does not turn authentication off', async () => {
  const { usersAfter, lines } = await open(users('a'));
  assert.deepEqual(await usersAfter(''), ['a']);
  assert.match(
    lines[1] ?? '',
    /"level":"warn".*"changes":\["basic_auth_users"\],"msg":"Web configuration change needs a restart; keeping the previous one"/,
  );
  assert.deepEqual(await usersAfter(users('b')), ['b']);
});

test('the files are checked once per second', async () => {
  const { source, checks } = await open(users('a'));
  const clock = new ManualClock(0);
  const stopped = new AbortController();
  const watch = watchWebConfiguration(source, clock, stopped.signal);
  clock.advance(999);
  assert.equal(checks(), 1);
  for (const expected of [2, 3]) {
    await waitForValue(() => clock.sleeperCount, 1);
    clock.advance(expected === 2 ? 1 : 1000);
    await waitUntil(checks, (count) => count === expected);
  }
  stopped.abort(new Error('stopped'));
  await assert.rejects(watch, /stopped/);
});
