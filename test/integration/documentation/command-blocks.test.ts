import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMAND_RUNS } from '../../long/documentation/command-runs.ts';
import { formatBlockName, listCommandBlocks } from './pages.ts';

test('every block of commands is run, or has a reason not to be', () => {
  const names = listCommandBlocks().map(formatBlockName);
  assert.deepEqual(names.toSorted(), [...COMMAND_RUNS.keys()].toSorted());
});
