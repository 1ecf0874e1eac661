import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PasswordVerifier } from '../../../../src/web/security/authorization.ts';

const KEY = Buffer.alloc(32);
const CLIENT = '192.0.2.1';
const HASH = `$2y$10$${'x'.repeat(53)}`;
const USERS = new Map([['prometheus', HASH]]);

/** A verifier that records its comparisons; the password `right` is valid. */
function createVerifier() {
  const comparisons: { password: string; hash: string }[] = [];
  const verifier = new PasswordVerifier(KEY, (password, hash) => {
    comparisons.push({ password, hash });
    return Promise.resolve(password === 'right');
  });
  const verify = (password: string, user = 'prometheus', users = USERS, client = CLIENT) =>
    verifier.verify({ user, password }, users, client);
  return { verify, comparisons };
}

test('bcrypt hashes of every prefix are compared', async () => {
  const verifier = new PasswordVerifier(KEY);
  // From the documentation of the format and the tests of the exporter-toolkit.
  const saltAndHash = 'QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi';
  for (const prefix of ['$2a$10$', '$2b$10$', '$2y$10$']) {
    const users = new Map([['a', prefix + saltAndHash]]);
    const verify = (password: string) => verifier.verify({ user: 'a', password }, users, CLIENT);
    assert.equal(await verify('fakepassword'), true, prefix);
    assert.equal(await verify('fakepassworD'), false, prefix);
  }
});

test('concurrent scrapes share one comparison', async () => {
  const { verify, comparisons } = createVerifier();
  const results = await Promise.all(Array.from({ length: 40 }, () => verify('right')));
  assert.deepEqual([new Set(results), comparisons.length], [new Set([true]), 1]);
});

test('ten thousand wrong passwords do not evict a valid one', async () => {
  const { verify, comparisons } = createVerifier();
  await verify('right');
  for (let guess = 0; guess < 10_000; guess += 1) assert.equal(await verify(`guess ${guess}`), false);
  assert.equal(await verify('right'), true);
  assert.equal(comparisons.filter(({ password }) => password === 'right').length, 1);
});

test('a client that guesses leaves room in the queue for another one', async () => {
  const { verify, comparisons } = createVerifier();
  const guesses = Promise.allSettled(Array.from({ length: 100 }, (_, guess) => verify(`guess ${guess}`)));
  assert.equal(await verify('right', 'prometheus', USERS, '192.0.2.2'), true);
  await guesses;
  // One guess runs, and two wait.
  assert.equal(comparisons.length, 4);
});

test('unknown users are invalid, and cost as much as the user with the cheapest hash', async () => {
  const { verify, comparisons } = createVerifier();
  const users = new Map([
    ['a', HASH.replace('$10$', '$16$')],
    ['b', HASH.replace('$10$', '$08$')],
    ['c', HASH.replace('$10$', '$12$')],
  ]);
  for (let index = 0; index < 64; index += 1)
    assert.equal(await verify('right', `unknown ${index}`, users), false);
  for (const { hash } of comparisons) assert.match(hash, /^\$2y\$08\$[./A-Za-z0-9]{53}$/);
  assert.equal(comparisons.length, 64);
});

test('a repeated guess is compared once, for users that exist and users that do not', async () => {
  const { verify, comparisons } = createVerifier();
  for (const user of ['prometheus', 'unknown']) {
    const before = comparisons.length;
    for (let guess = 0; guess < 100; guess += 1) assert.equal(await verify('wrong', user), false);
    assert.equal(comparisons.length - before, 1);
  }
  assert.equal(new Set(comparisons.map(({ hash }) => hash.length)).size, 1);
});

test('a new hash is compared again, and a removed user is invalid', async () => {
  const { verify, comparisons } = createVerifier();
  await verify('right');
  await verify('right', 'prometheus', new Map([['prometheus', HASH.replace('$10$', '$11$')]]));
  assert.equal(comparisons.length, 2);
  assert.equal(await verify('right', 'prometheus', new Map([['other', HASH]])), false);
});

test('user and password are separate parts of the cache key', async () => {
  const { verify, comparisons } = createVerifier();
  const users = new Map([
    ['a', HASH],
    ['a","b', HASH],
  ]);
  await verify('b","c', 'a', users);
  await verify('c', 'a","b', users);
  assert.equal(comparisons.length, 2);
});
