import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diffCodes, type PolledCode } from '../../../src/poller/polled-code.ts';
import { createPolledCode } from './rig.ts';
import { TARGET } from '../../support/manual-client.ts';

type Names = readonly string[];

const A = createPolledCode('A');
const B = createPolledCode('B');
const C = createPolledCode('C');
const changeB = (more: Partial<PolledCode>): PolledCode => createPolledCode('B', more);

/** Name, codes before and after, and the added, changed, kept and removed codes. */
const TABLE: readonly [string, PolledCode[], PolledCode[], [Names, Names, Names, Names]][] = [
  ['equal settings in other objects', [A, B], [createPolledCode('A'), changeB({})], [[], [], ['A', 'B'], []]],
  ['another order', [A, B, C], [C, A, B], [[], [], ['C', 'A', 'B'], []]],
  ['another secret', [A, B], [A, changeB({ secret: 'new' })], [[], ['B'], ['A'], []]],
  [
    'another signature',
    [A, B],
    [A, changeB({ signing: { ...TARGET.signing, encoding: 'base64' } })],
    [[], ['B'], ['A'], []],
  ],
  ['another stall_after', [A, B], [A, changeB({ stallAfterMs: 1 })], [[], ['B'], ['A'], []]],
  [
    'another expectation, which interrupts no poll',
    [A, B],
    [A, changeB({ expectation: { tasks: 2, names: [] } })],
    [[], [], ['A', 'B'], []],
  ],
  [
    'other labels, which interrupt no poll',
    [A, B],
    [A, changeB({ labels: { tenant: 'acme' } })],
    [[], [], ['A', 'B'], []],
  ],
  [
    'other labels and another secret',
    [A, B],
    [A, changeB({ labels: { tenant: 'acme' }, secret: 'new' })],
    [[], ['B'], ['A'], []],
  ],
  [
    'an added, a changed and a removed code',
    [A, B],
    [changeB({ secret: 'new' }), C],
    [['C'], ['B'], [], ['A']],
  ],
];

const toNames = (codes: readonly PolledCode[]): Names => codes.map(({ serviceCode }) => serviceCode);

for (const [name, before, after, expected] of TABLE) {
  test(`diffs ${name}`, () => {
    const { added, changed, kept, removed, expectationChanged, relabelled } = diffCodes(before, after);
    assert.deepEqual(toNames(relabelled), name.startsWith('other labels') ? ['B'] : []);
    assert.deepEqual(toNames(expectationChanged), name.startsWith('another expectation') ? ['B'] : []);
    assert.deepEqual([added, changed, kept, removed].map(toNames), expected);
  });
}
