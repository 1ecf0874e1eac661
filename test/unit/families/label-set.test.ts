import assert from 'node:assert/strict';
import { test } from 'node:test';
import { internLabels } from '../../../src/families/label-set.ts';

test('equal label sets are one object, and others are not', () => {
  const labels = internLabels(['a', 'b']);
  assert.equal(internLabels(['a', 'b']), labels);
  for (const other of [['a'], ['ab'], ['a b'], ['b', 'a'], ['a', 'b', '']])
    assert.notEqual(internLabels(other), labels);
});
