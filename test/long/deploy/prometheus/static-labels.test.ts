import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { listDeployYaml, deployPath } from '../../../support/deploy-files.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { runPromtool } from '../../../support/promtool.ts';
import { TemporaryFolder } from '../../../support/temporary-folder.ts';

/** Adds an owner label to each series, recorded series and expected alert with a service code. */
function addOwnerLabel(text: string): string {
  return text
    .replaceAll(/service_code="([^"]+)"/g, 'service_code="$1", owner="owner-of-$1"')
    .replaceAll(/service_code: ([^,}]+?)(?= *[,}])/g, 'service_code: $1, owner: owner-of-$1')
    .replaceAll('by (service_code', 'by (owner, service_code');
}

for (const file of listDeployYaml('prometheus/tests').filter((name) => !name.endsWith('labels.yml'))) {
  test(`each alert of ${file} fires as without static labels, and has the labels of its service code`, async (t) => {
    if (!isInstalled(t, 'promtool')) return;
    using folder = new TemporaryFolder();
    cpSync(deployPath('prometheus'), folder.path, { recursive: true });
    const path = folder.at(file.replace('prometheus/', ''));
    const labelled = addOwnerLabel(readFileSync(path, 'utf8'));
    assert.ok(labelled.includes('owner-of-A'));
    writeFileSync(path, labelled);
    assert.match(await runPromtool(['test', 'rules', path]), /SUCCESS/);
  });
}
