import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatHelp } from '../../../src/commands/help.ts';
import { assertGolden } from '../../support/fixtures.ts';

test('the help matches the settings', () => {
  assertGolden('config/help.txt', formatHelp());
});

test('the help fits into 100 columns', () => {
  assert.deepEqual(
    formatHelp()
      .split('\n')
      .filter((line) => line.length > 100),
    [],
  );
});
