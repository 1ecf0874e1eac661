import { test } from 'node:test';
import { helpText } from '../../src/config/help.ts';
import { settingsReference } from '../../src/config/reference.ts';
import { assertGolden } from '../support/fixtures.ts';

test('config/reference.md is what the settings say', () => {
  assertGolden('../../config/reference.md', settingsReference());
});

test('the help is what the settings say', () => {
  assertGolden('config/help.txt', helpText());
});
