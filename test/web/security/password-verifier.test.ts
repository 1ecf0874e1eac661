import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BoundedMemory } from '../../../src/web/auth/bounded-memory.ts';
import { PasswordCheck } from '../../../src/web/auth/password-check.ts';

const NEVER = new AbortController().signal;
const HASH = `$2y$10$${'x'.repeat(53)}`;
const USERS = new Map([['prometheus', HASH]]);

/** A check whose comparisons the test counts; they say that `right` is right, once they are let go. */
function counted() {
  const compared: { password: string; hash: string }[] = [];
  const waiting: (() => void)[] = [];
  let isHeld = false;
  const check = new PasswordCheck({
    compare: async (password, hash) => {
      compared.push({ password, hash });
      if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
      return password === 'right';
    },
  });
  const ask = (password: string, user = 'prometheus', users = USERS, signal = NEVER) =>
    check.check({ user, password }, users, signal);
  return {
    ask,
    compared,
    hold: () => {
      isHeld = true;
    },
    release: () => {
      isHeld = false;
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
}

test('a right password is compared once, however often it comes', async () => {
  const { ask, compared } = counted();
  for (let scrape = 0; scrape < 100; scrape += 1) assert.equal(await ask('right'), 'right');
  assert.equal(compared.length, 1);
});

test('scrapes at the same time share one comparison', async () => {
  const { ask, compared } = counted();
  const verdicts = await Promise.all(Array.from({ length: 40 }, () => ask('right')));
  assert.deepEqual([new Set(verdicts), compared.length], [new Set(['right']), 1]);
});

test('ten thousand wrong passwords push no right one out', async () => {
  const { ask, compared } = counted();
  await ask('right');
  for (let guess = 0; guess < 10_000; guess += 1) assert.equal(await ask(`guess ${guess}`), 'wrong');
  assert.equal(await ask('right'), 'right');
  assert.equal(compared.filter(({ password }) => password === 'right').length, 1);
});

test('memory holds the entries that were used last, and no more than it may', () => {
  const memory = new BoundedMemory(3);
  for (let entry = 0; entry < 10_000; entry += 1) {
    memory.add(String(entry));
    memory.add('kept');
    assert.ok(memory.size <= 3);
  }
  assert.deepEqual(
    ['9997', '9998', '9999', 'kept'].map((entry) => memory.has(entry)),
    [false, true, true, true],
  );
});

test('an unknown user is compared as dearly as a known one, and is wrong whatever the password', async () => {
  const { ask, compared } = counted();
  const users = new Map([['prometheus', HASH.replace('$10$', '$13$')]]);
  assert.equal(await ask('right', 'nobody', users), 'wrong');
  assert.equal(await ask('right', 'nobody', users), 'wrong');
  assert.match(compared[0]?.hash ?? '', /^\$2y\$13\$[./A-Za-z0-9]{53}$/);
  assert.equal(compared.length, 1);
});

test('where users differ in cost, unknown ones do so too, each always in the same way', async () => {
  const { ask, compared } = counted();
  const users = new Map([
    ['a', HASH.replace('$10$', '$08$')],
    ['b', HASH.replace('$10$', '$12$')],
  ]);
  const names = Array.from({ length: 64 }, (_, index) => `nobody ${index}`);
  const costs = async (password: string) => {
    const before = compared.length;
    for (const name of names) await ask(password, name, users);
    return compared.slice(before).map(({ hash }) => hash.slice(4, 6));
  };
  const first = await costs('one');
  assert.deepEqual(new Set(first), new Set(['08', '12']));
  assert.deepEqual(await costs('another'), first);
});

test('a new hash of a user is a new question, and a user that has gone is wrong at once', async () => {
  const { ask, compared } = counted();
  await ask('right');
  await ask('right', 'prometheus', new Map([['prometheus', HASH.replace('$10$', '$11$')]]));
  assert.equal(compared.length, 2);
  assert.equal(await ask('right', 'prometheus', new Map([['other', HASH]])), 'wrong');
});

test('user and password do not run into one another', async () => {
  const { ask, compared } = counted();
  const users = new Map([
    ['a', HASH],
    ['a","b', HASH],
  ]);
  await ask('b","c', 'a', users);
  await ask('c', 'a","b', users);
  assert.equal(compared.length, 2);
});

test('one comparison goes at a time, a few wait, and more are told to come again', async () => {
  const { ask, compared, hold, release } = counted();
  hold();
  const waiting = Array.from({ length: 16 }, (_, guess) => ask(`guess ${guess}`));
  assert.equal(await ask('one more'), 'busy');
  assert.equal(compared.length, 1);
  release();
  assert.deepEqual(new Set(await Promise.all(waiting)), new Set(['wrong']));
  assert.equal(await ask('right'), 'right');
});

test('what no one waits for any more is not compared', async () => {
  const { ask, compared, hold, release } = counted();
  hold();
  const first = ask('first');
  const gone = new AbortController();
  const given = ask('second', 'prometheus', USERS, gone.signal);
  gone.abort();
  release();
  await Promise.all([first, given]);
  assert.deepEqual(
    compared.map(({ password }) => password),
    ['first'],
  );
});

test('a comparison that fails is told, and holds up nothing', async () => {
  let calls = 0;
  const check = new PasswordCheck({
    compare: () => {
      calls += 1;
      return calls === 1 ? Promise.reject(new Error('thread')) : Promise.resolve(true);
    },
  });
  const ask = () => check.check({ user: 'prometheus', password: 'x' }, USERS, NEVER);
  await assert.rejects(ask(), /thread/);
  assert.equal(await ask(), 'right');
});
