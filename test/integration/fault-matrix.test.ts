import assert from 'node:assert/strict';
import { test } from 'node:test';
import { POLL_ERROR_REASONS, type PollErrorReason } from '../../src/upstream/errors.ts';
import { defineFaultTests } from './fault-matrix.ts';
import { FAULTS, TIMEOUTS } from './faults/table.ts';

/** Unit tests cause these: a body that the reader rejects, a lack of descriptors or memory, and a bug. */
const CAUSED_ELSEWHERE: readonly PollErrorReason[] = ['bad_shape', 'resources', 'internal'];

test('a fault causes each reason', () => {
  const caused = new Set([...FAULTS, ...TIMEOUTS].map(({ reason }) => reason));
  assert.deepEqual([...caused, ...CAUSED_ELSEWHERE].toSorted(), POLL_ERROR_REASONS.toSorted());
});

defineFaultTests(FAULTS);
