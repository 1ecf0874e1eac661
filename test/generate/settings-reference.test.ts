import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { helpText } from '../../src/config/help.ts';
import { manPage } from '../../src/config/man-page.ts';
import { settingsReference } from '../../src/config/reference.ts';
import { assertGolden } from '../support/fixtures.ts';
import { isInstalled } from '../support/installed.ts';
import { repositoryPath } from '../support/repository.ts';

test('config/reference.md is what the settings say', () => {
  assertGolden('../../config/reference.md', settingsReference());
});

test('the help is what the settings say', () => {
  assertGolden('config/help.txt', helpText());
});

test('the help fits into 100 columns', () => {
  assert.deepEqual(
    helpText()
      .split('\n')
      .filter((line) => line.length > 100),
    [],
  );
});

test('man/xvs-exporter.1 is what the settings say', () => {
  assertGolden('../../man/xvs-exporter.1', manPage());
});

test('man formats the manual page without a warning, and it says what the help says', (t) => {
  if (!isInstalled(t, 'man')) return;
  const { stdout, stderr, status } = spawnSync(
    'man',
    ['--warnings', '--encoding=ascii', '--local-file', repositoryPath('man', 'xvs-exporter.1')],
    { encoding: 'utf8', env: { PATH: process.env['PATH'], MANWIDTH: '100', LC_ALL: 'C.UTF-8' } },
  );
  assert.equal(stderr, '');
  assert.equal(status, 0);
  const told = stdout.replaceAll(/\s+/g, ' ');
  for (const line of helpText().split('\n')) {
    const flag = /^ {2}(--\S+)/.exec(line)?.[1];
    if (flag !== undefined) assert.ok(told.includes(flag), flag);
  }
});
