import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairShare } from '../../../src/web/fair-share.ts';

interface Entry {
  readonly client: string;
  readonly name: string;
}

/** Creates shares of entries such as `a1`: the first character is the client. */
function createShare(names: string) {
  const share = new FairShare<Entry>();
  const entries = names.split(' ').map((name): Entry => ({ client: name.slice(0, 1), name }));
  for (const entry of entries) share.add(entry);
  return { share, find: (name: string) => entries.find((entry) => entry.name === name) };
}

for (const [held, among, expected] of [
  ['a1 b1 b2 a2 b3', /./, 'b1'],
  ['a1 b1 b2 c1 c2', /./, 'b1'],
  ['a1 b1', /./, 'a1'],
  ['a1 b1 b2 b3', /[^1]$/, 'b2'],
  ['a1 b1 b2 b3', /^a/, 'a1'],
  ['a1', /b/, undefined],
] as const) {
  test(`of ${held}, ${expected ?? 'nothing'} gives way among ${among.source}`, () => {
    const { share } = createShare(held);
    assert.equal(share.findVictim(({ name }) => among.test(name))?.name, expected);
  });
}

test('an entry that is added again is the newest of its client', () => {
  const { share, find } = createShare('a1 a2');
  const first = find('a1');
  assert.ok(first !== undefined);
  share.add(first);
  assert.deepEqual([share.findVictim()?.name, share.size], ['a2', 2]);
});

test('clients take turns, each with its oldest entry first', () => {
  const { share } = createShare('a1 a2 a3 b1 c1 b2');
  const order = [];
  for (let entry = share.takeTurn(); entry !== undefined; entry = share.takeTurn()) order.push(entry.name);
  // The client that was active last has its turn last.
  assert.deepEqual(order, ['a1', 'c1', 'b1', 'a2', 'b2', 'a3']);
  assert.equal(share.size, 0);
});
