import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Turnstiles } from '../../src/poller/turnstiles.ts';

const signal = new AbortController().signal;

/** Sends some through that stay inside until they are let out. */
function crowd(turnstiles: Turnstiles) {
  const inside = new Map<string, () => void>();
  const send = (who: string, name = 'one', stop = signal): Promise<void> => {
    const stay = () => new Promise<void>((resolve) => inside.set(who, resolve));
    return turnstiles.pass(name, stay, stop).finally(() => inside.delete(who));
  };
  const letOut = async (who: string): Promise<void> => {
    inside.get(who)?.();
    await nextTurn();
  };
  return { send, letOut, inside: () => [...inside.keys()].join('') };
}

test('so many are in at a time, and the others come in their order', async () => {
  const { send, letOut, inside } = crowd(new Turnstiles(2));
  const passed = ['a', 'b', 'c', 'd'].map((who) => send(who));
  await nextTurn();
  assert.equal(inside(), 'ab');
  await letOut('b');
  assert.equal(inside(), 'ac');
  await letOut('c');
  assert.equal(inside(), 'ad');
  await letOut('d');
  await letOut('a');
  await Promise.all(passed);
});

test('whoever comes as one leaves does not come before one who waits', async () => {
  const { send, letOut, inside } = crowd(new Turnstiles(1));
  const first = send('a');
  const second = send('b');
  await nextTurn();
  const left = letOut('a');
  const third = send('c');
  await left;
  assert.equal(inside(), 'b');
  await letOut('b');
  assert.equal(inside(), 'c');
  await letOut('c');
  await Promise.all([first, second, third]);
});

test('each name has a turnstile of its own', async () => {
  const { send, letOut, inside } = crowd(new Turnstiles(1));
  const passed = [send('a', 'one'), send('b', 'other'), send('c', 'other')];
  await nextTurn();
  assert.equal(inside(), 'ab');
  for (const who of 'abc') await letOut(who);
  await Promise.all(passed);
});

test('one that fails leaves its place, and fails whoever sent it', async () => {
  const turnstiles = new Turnstiles(1);
  const mistake = new TypeError('Expected a function');
  const failed = turnstiles.pass('one', () => Promise.reject(mistake), signal);
  const after = turnstiles.pass('one', () => Promise.resolve(), signal);
  await assert.rejects(failed, mistake);
  await after;
});

test('an abort takes one that waits out of the line, and one that has not come yet stays away', async () => {
  const { send, letOut, inside } = crowd(new Turnstiles(1));
  const stop = new AbortController();
  const passed = [send('a'), send('c')];
  const gone = assert.rejects(send('b', 'one', stop.signal), { name: 'AbortError' });
  stop.abort();
  await gone;
  await assert.rejects(send('d', 'one', stop.signal), { name: 'AbortError' });
  await letOut('a');
  assert.equal(inside(), 'c');
  await letOut('c');
  await Promise.all(passed);
});

test('another limit holds from the next who leaves on', async () => {
  const turnstiles = new Turnstiles(1);
  const { send, letOut, inside } = crowd(turnstiles);
  const passed = [...'abcde'].map((who) => send(who));
  turnstiles.limit = 3;
  await nextTurn();
  await letOut('a');
  assert.equal(inside(), 'bcd');
  turnstiles.limit = 1;
  await letOut('b');
  await letOut('c');
  assert.equal(inside(), 'd');
  await letOut('d');
  await letOut('e');
  await Promise.all(passed);
});
