import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { formatHelp } from '../../../src/commands/help.ts';
import * as prettier from 'prettier';
import {
  renderChartSchema,
  renderConfigurationSchema,
} from '../../../scripts/generate/configuration-schema.ts';
import { renderManPage } from '../../../scripts/generate/man-page.ts';
import { renderSettingsReference } from '../../../scripts/generate/settings-reference.ts';
import { assertGolden, fixturePath, readFixture } from '../../support/fixtures.ts';
import { isInstalled } from '../../support/installed-programs.ts';
import { repositoryPath } from '../../support/repository.ts';

test('config/reference.md matches the settings', () => {
  assertGolden('../../config/reference.md', renderSettingsReference());
});

test('man/xvs-exporter.1 matches the settings', () => {
  assertGolden('../../man/xvs-exporter.1', renderManPage());
  // Other characters depend on the locale.
  assert.match(renderManPage(), /^[\n -~]*$/);
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

test('config/schema.json and the schema of the chart match the settings', async () => {
  const format = async (path: string, schema: object) => {
    const options = await prettier.resolveConfig(fixturePath(path));
    return await prettier.format(JSON.stringify(schema), { ...options, parser: 'json' });
  };
  assertGolden(
    '../../config/schema.json',
    await format('../../config/schema.json', renderConfigurationSchema()),
  );
  const values = '../../deploy/helm/xvs-exporter/values.schema.json';
  assertGolden(values, await format(values, renderChartSchema(JSON.parse(readFixture(values).toString()))));
});
