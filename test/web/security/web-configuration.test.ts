import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWebConfiguration } from '../../../src/web/config/web-configuration-source.ts';
import { createLogger } from '../../../src/log.ts';
import { messageOf } from '../../support/configuration.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { HASH } from './files.ts';

const PATH = '/etc/web.yml';
const users = (...names: readonly string[]): string =>
  `basic_auth_users: { ${names.map((name) => `${name}: ${HASH}`).join(', ')} }`;

/** A source that reads one file, which the test changes. */
async function open(first: string | undefined) {
  let text = first;
  let reads = 0;
  const clock = new ManualClock(0);
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  const source = await openWebConfiguration({
    path: PATH,
    readFile: (path) => {
      reads += 1;
      if (path === PATH && text !== undefined) return Promise.resolve(text);
      return Promise.reject(Object.assign(new Error('none'), { code: 'ENOENT' }));
    },
    clock,
    logger: createLogger({ level: 'debug', format: 'json', destination }),
  });
  return {
    lines,
    reads: () => reads,
    /** The users in force a second after the file has become another one. */
    after: async (next: string | undefined): Promise<readonly string[]> => {
      text = next;
      clock.advance(1000);
      const { users: known } = await source.latest();
      return [...known.keys()];
    },
    source,
    clock,
  };
}

test('what is wrong at the start is an error', async () => {
  const message = await messageOf(() => open('junk: 1'));
  assert.equal(message, '/etc/web.yml:1:1 junk: expected a known key, found "junk"');
});

test('a change is in force a second later at most, and is logged once', async () => {
  const { after, lines } = await open(users('a'));
  assert.deepEqual(await after(users('a', 'b')), ['a', 'b']);
  assert.deepEqual(await after(users('a', 'b')), ['a', 'b']);
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /"level":"info".*"tls":false,"users":2,"msg":"Web configuration loaded"/);
});

test('a version that is wrong changes nothing and is one line in the log, each time it changes', async () => {
  const { after, lines } = await open(users('a'));
  const versions = ['junk: 1', 'junk: 1', 'junk: 2', undefined, undefined, `junk: ${HASH}`];
  for (const version of versions) assert.deepEqual(await after(version), ['a']);
  assert.equal(lines.length, 4);
  for (const line of lines)
    assert.match(line, /"level":"error".*"error":"[^"]*.*the one before stays in force"/);
  assert.ok(!lines.join('').includes(HASH));
  assert.deepEqual(await after(users('b')), ['b']);
});

test('a file that is empty, as one is while it is written, opens nothing', async () => {
  const { after, lines } = await open(users('a'));
  assert.deepEqual(await after(''), ['a']);
  assert.match(lines[0] ?? '', /"error":"basic authentication cannot be turned off without a restart"/);
  assert.deepEqual(await after(users('b')), ['b']);
});

test('it is read at most once a second, however many ask', async () => {
  const { source, clock, reads } = await open(users('a'));
  const ask = () => Promise.all(Array.from({ length: 100 }, () => source.latest()));
  await ask();
  assert.equal(reads(), 1);
  clock.advance(999);
  await ask();
  assert.equal(reads(), 1);
  clock.advance(1);
  await ask();
  await ask();
  assert.equal(reads(), 2);
});
