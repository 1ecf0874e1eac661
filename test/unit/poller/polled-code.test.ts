import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diffCodes, type PolledCode } from '../../../src/poller/polled-code.ts';
import { createCodeAt, createPolledCode } from './rig.ts';
import { TARGET } from '../../support/manual-client.ts';

type Names = readonly string[];

const A = createPolledCode('A');
const B = createPolledCode('B');
const C = createPolledCode('C');
const withTarget = (more: Partial<PolledCode['target']>): PolledCode => createCodeAt('B', more);

/** Name, codes before and after, and the added, changed, kept and removed codes. */
const TABLE: readonly [string, PolledCode[], PolledCode[], [Names, Names, Names, Names]][] = [
  ['no codes', [], [], [[], [], [], []]],
  ['the same codes', [A, B], [A, B], [[], [], ['A', 'B'], []]],
  [
    'equal settings in other objects',
    [A, B],
    [createPolledCode('A'), withTarget({})],
    [[], [], ['A', 'B'], []],
  ],
  ['another order', [A, B, C], [C, A, B], [[], [], ['C', 'A', 'B'], []]],
  ['an added code', [A], [A, B], [['B'], [], ['A'], []]],
  ['a removed code', [A, B], [B], [[], [], ['B'], ['A']]],
  ['other codes only', [A], [B, C], [['B', 'C'], [], [], ['A']]],
  ['another secret', [A, B], [A, withTarget({ secret: 'new' })], [[], ['B'], ['A'], []]],
  ['another address', [A, B], [A, withTarget({ baseUrl: 'http://[::1]' })], [[], ['B'], ['A'], []]],
  ['another timeout', [A, B], [A, withTarget({ timeoutMs: 1 })], [[], ['B'], ['A'], []]],
  [
    'another signature',
    [A, B],
    [A, withTarget({ signing: { ...TARGET.signing, encoding: 'base64' } })],
    [[], ['B'], ['A'], []],
  ],
  ['another interval', [A, B], [A, createPolledCode('B', { intervalMs: 1000 })], [[], ['B'], ['A'], []]],
  ['another stale_after', [A, B], [A, createPolledCode('B', { staleAfterMs: 1 })], [[], ['B'], ['A'], []]],
  ['another stall_after', [A, B], [A, createPolledCode('B', { stallAfterMs: 1 })], [[], ['B'], ['A'], []]],
  [
    'another expectation, which interrupts no poll',
    [A, B],
    [A, createPolledCode('B', { expectation: { tasks: 2, names: [] } })],
    [[], [], ['A', 'B'], []],
  ],
  [
    'an added, a changed and a removed code',
    [A, B],
    [withTarget({ secret: 'new' }), C],
    [['C'], ['B'], [], ['A']],
  ],
];

const toNames = (codes: readonly PolledCode[]): Names => codes.map(({ target }) => target.serviceCode);

for (const [name, before, after, expected] of TABLE) {
  test(`diffs ${name}`, () => {
    const { added, changed, kept, removed, expectationChanged } = diffCodes(before, after);
    assert.deepEqual(toNames(expectationChanged), name.startsWith('another expectation') ? ['B'] : []);
    assert.deepEqual([added, changed, kept, removed].map(toNames), expected);
  });
}

test('the diff has the new settings of a changed code', () => {
  const next = withTarget({ secret: 'new' });
  assert.deepEqual(diffCodes([A, B], [A, next]).changed, [next]);
});
