import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatHelp } from '../../../src/commands/help.ts';
import { assertGolden } from '../../support/fixtures.ts';

test('the help matches the settings and fits into 100 columns', () => {
  const help = formatHelp();
  assertGolden('config/help.txt', help);
  for (const line of help.split('\n')) assert.ok(line.length <= 100, line);
});
