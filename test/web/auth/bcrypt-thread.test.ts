import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashSync } from 'bcryptjs';
import { BcryptThread } from '../../../src/web/auth/bcrypt-thread.ts';
import { systemClock } from '../../../src/clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { until } from '../../support/until.ts';

test('hashes of every prefix that htpasswd and others write are compared', async () => {
  await using thread = new BcryptThread(systemClock);
  // From the documentation of the format, and the toolkit's own tests.
  const hash = 'QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi';
  for (const prefix of ['$2a$10$', '$2b$10$', '$2y$10$']) {
    assert.equal(await thread.compare('fakepassword', prefix + hash), true, prefix);
    assert.equal(await thread.compare('fakepassworD', prefix + hash), false, prefix);
  }
});

test('while one is compared the main thread goes on', async () => {
  await using thread = new BcryptThread(systemClock);
  const hash = hashSync('x', 4).replace('$04$', '$12$');
  let turns = 0;
  const count = (): void => {
    turns += 1;
    turning = setImmediate(count);
  };
  let turning = setImmediate(count);
  await thread.compare('x', hash);
  clearImmediate(turning);
  // On the main thread, or by the asynchronous functions of the library, there would be a handful.
  assert.ok(turns > 1000, `found ${turns} turns of the event loop`);
});

test('one that takes too long is given up, and the next has a new thread', async () => {
  const clock = new ManualClock(0);
  await using thread = new BcryptThread(clock);
  const given = thread.compare('x', hashSync('x', 4).replace('$04$', '$31$'));
  await until(
    () => clock.sleepers,
    (sleepers) => sleepers === 1,
  );
  clock.advance(30_000);
  await assert.rejects(given, /Expected a bcrypt comparison to end within 30000 ms/);
  assert.equal(await thread.compare('x', hashSync('x', 4)), true);
});
