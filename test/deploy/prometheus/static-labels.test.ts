import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { listDeployYaml, deployPath } from '../../support/deploy-files.ts';
import { isInstalled } from '../../support/installed-programs.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

const run = promisify(execFile);

/** Puts an owner on whatever is of a service code: series, recorded ones, and the alerts that are expected. */
function addOwnerLabel(text: string): string {
  return text
    .replaceAll(/service_code="(\w+)"/g, 'service_code="$1", owner="owner-of-$1"')
    .replaceAll(/service_code: (\w+)(?=[, ])/g, 'service_code: $1, owner: owner-of-$1');
}

for (const file of listDeployYaml('prometheus/tests').filter((name) => !name.endsWith('labels.yml'))) {
  test(`each alert of ${file} fires as it does without, and has the labels of its service code`, async (t) => {
    if (!isInstalled(t, 'promtool')) return;
    using folder = new TemporaryFolder();
    cpSync(deployPath('prometheus'), folder.path, { recursive: true });
    const path = folder.at(file.replace('prometheus/', ''));
    const labelled = addOwnerLabel(readFileSync(path, 'utf8'));
    assert.ok(labelled.includes('owner-of-A') || file.endsWith('bounds-missing.yml'));
    writeFileSync(path, labelled);
    const { stdout } = await run('promtool', ['test', 'rules', path]);
    assert.match(stdout, /SUCCESS/);
  });
}
