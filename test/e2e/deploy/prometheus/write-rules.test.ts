import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isInstalled } from '../../../support/installed-programs.ts';
import { runPromtool } from '../../../support/promtool.ts';
import { runScript } from '../../../support/repository.ts';
import { TemporaryFolder } from '../../../support/temporary-folder.ts';

/** Writes everything that `npm run rules` writes into a temporary folder. */
function writeRules(...args: readonly string[]): TemporaryFolder {
  const folder = new TemporaryFolder();
  const { status, stderr } = runScript('write-rules.mjs', ...args, `--out=${folder.path}`);
  assert.equal(status, 0, stderr);
  return folder;
}

function read(folder: TemporaryFolder, name: string): string {
  return readFileSync(folder.at(name), 'utf8');
}

test('npm run rules writes names and addresses of an installation, and the rules pass their tests', async (t) => {
  using folder = writeRules(
    '--job=live-video',
    '--runbook-url=https://wiki.forge.test/alerts',
    '--grafana-url=https://grafana.forge.test/',
    '--exporter-url=https://exporter.forge.test/xvs',
  );
  const written = ['rules', 'tests', 'dashboards'].flatMap((name) =>
    readdirSync(folder.at(name)).map((file) => read(folder, `${name}/${file}`)),
  );
  for (const text of written) assert.doesNotMatch(text, /example\.com|job(="|: | )xvs-exporter/);
  const all = written.join('\n');
  for (const expected of [
    'up{job="live-video"',
    'up{job=~\\"live-video\\"}',
    'runbook_url: https://wiki.forge.test/alerts#XvsApiDown',
    '"url": "https://wiki.forge.test/alerts#${__value.raw}"',
    'dashboard_url: https://grafana.forge.test/d/xvs-overview',
    'status_url: https://exporter.forge.test/xvs/service-codes/?service_code=',
    '"query": "https://exporter.forge.test/xvs"',
  ])
    assert.ok(all.includes(expected), expected);
  if (!isInstalled(t, 'promtool')) return;
  assert.match(await runPromtool(['test', 'rules', folder.at('tests/clocks.yml')]), /SUCCESS/);
});
