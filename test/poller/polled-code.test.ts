import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differenceOf, type PolledCode } from '../../src/poller/polled-code.ts';
import { codeFor } from './held-poller.ts';
import { TARGET } from './polling.ts';

type Names = readonly string[];

const A = codeFor('A');
const B = codeFor('B');
const C = codeFor('C');
const retargeted = (more: Partial<PolledCode['target']>): PolledCode =>
  codeFor('B', { target: { ...TARGET, serviceCode: 'B', ...more } });

/** What it is about, the codes before and after, and which are added, changed, kept, removed. */
const TABLE: readonly [string, PolledCode[], PolledCode[], [Names, Names, Names, Names]][] = [
  ['nothing', [], [], [[], [], [], []]],
  ['the same codes', [A, B], [A, B], [[], [], ['A', 'B'], []]],
  ['equal settings in other objects', [A, B], [codeFor('A'), retargeted({})], [[], [], ['A', 'B'], []]],
  ['another order', [A, B, C], [C, A, B], [[], [], ['C', 'A', 'B'], []]],
  ['one more', [A], [A, B], [['B'], [], ['A'], []]],
  ['one less', [A, B], [B], [[], [], ['B'], ['A']]],
  ['all others', [A], [B, C], [['B', 'C'], [], [], ['A']]],
  ['another secret', [A, B], [A, retargeted({ secret: 'new' })], [[], ['B'], ['A'], []]],
  ['another address', [A, B], [A, retargeted({ baseUrl: 'http://[::1]' })], [[], ['B'], ['A'], []]],
  ['another timeout', [A, B], [A, retargeted({ timeoutMs: 1 })], [[], ['B'], ['A'], []]],
  [
    'another signature',
    [A, B],
    [A, retargeted({ signing: { ...TARGET.signing, encoding: 'base64' } })],
    [[], ['B'], ['A'], []],
  ],
  ['another interval', [A, B], [A, codeFor('B', { intervalMs: 1000 })], [[], ['B'], ['A'], []]],
  ['another staleness', [A, B], [A, codeFor('B', { staleAfterMs: 1 })], [[], ['B'], ['A'], []]],
  ['another stall', [A, B], [A, codeFor('B', { stallAfterMs: 1 })], [[], ['B'], ['A'], []]],
  ['everything at once', [A, B], [retargeted({ secret: 'new' }), C], [['C'], ['B'], [], ['A']]],
];

const namesOf = (codes: readonly PolledCode[]): Names => codes.map(({ target }) => target.serviceCode);

for (const [name, before, after, expected] of TABLE) {
  test(`the difference is told of ${name}`, () => {
    const { added, changed, kept, removed } = differenceOf(before, after);
    assert.deepEqual([added, changed, kept, removed].map(namesOf), expected);
  });
}

test('of a code that changed, the difference has the new settings', () => {
  const next = retargeted({ secret: 'new' });
  assert.deepEqual(differenceOf([A, B], [A, next]).changed, [next]);
});
