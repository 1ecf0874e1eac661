import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { formatHelp } from '../../../src/commands/help.ts';
import { renderManPage } from '../../../scripts/generate/man-page.ts';
import { renderSettingsReference } from '../../../scripts/generate/settings-reference.ts';
import { assertGolden } from '../../support/fixtures.ts';
import { isInstalled } from '../../support/installed-programs.ts';
import { repositoryPath } from '../../support/repository.ts';

test('config/reference.md matches the settings', () => {
  assertGolden('../../config/reference.md', renderSettingsReference());
});

test('man/xvs-exporter.1 matches the settings', () => {
  assertGolden('../../man/xvs-exporter.1', renderManPage());
});

test('man formats the manual page without warnings, and it has every flag of the help', (t) => {
  if (!isInstalled(t, 'man')) return;
  const { stdout, stderr, status } = spawnSync(
    'man',
    ['--warnings', '--encoding=ascii', '--local-file', repositoryPath('man', 'xvs-exporter.1')],
    { encoding: 'utf8', env: { PATH: process.env['PATH'], MANWIDTH: '100', LC_ALL: 'C.UTF-8' } },
  );
  assert.equal(stderr, '');
  assert.equal(status, 0);
  const rendered = stdout.replaceAll(/\s+/g, ' ');
  for (const line of formatHelp().split('\n')) {
    const flag = /^ {2}(--\S+)/.exec(line)?.[1];
    if (flag !== undefined) assert.ok(rendered.includes(flag), flag);
  }
});
