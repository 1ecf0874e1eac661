import assert from 'node:assert/strict';
import { cpSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { readDeployFile, listDeployYaml, deployPath } from '../../../support/deploy-files.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { runPromtool } from '../../../support/promtool.ts';
import { TemporaryFolder } from '../../../support/temporary-folder.ts';

/** Tests with other results: Prometheus keeps discovered targets, so a code is not forgotten. */
const EXCLUDED_TESTS = /XvsServiceCodeUnwatched: .* until A is forgotten/;
const CONSTANT = '1x500';

/** Formats `up` series of each service code for a unit test, with the values of its instance. */
function createUpInput(unitTest: string): string {
  const inputs = [...unitTest.matchAll(/- series: (.*)\n +values: (.*)/g)];
  const upOf = new Map(
    inputs.flatMap(([, series = '', values = '']) => {
      const instance = /^up\{job="xvs-exporter", instance="([^"]*)"\}$/.exec(series)?.[1];
      return instance === undefined ? [] : [[instance, values] as const];
    }),
  );
  const lines = inputs.flatMap(([, series = '']) => {
    const instance = /instance="([^"]*)"/.exec(series)?.[1];
    const code = /service_code="([^"]*)"/.exec(series)?.[1];
    if (instance === undefined || code === undefined) return [];
    const up = `up{job="xvs-exporter", instance="${instance}", service_code="${code}"}`;
    return [`      - series: ${up}\n        values: ${upOf.get(instance) ?? CONSTANT}\n`];
  });
  return [...new Set(lines)].join('');
}

/** Adds a target for each service code to the unit tests of a file. */
function addDiscoveredTargets(text: string): string {
  const [head = '', ...tests] = text.split(/^(?= {2}- name: )/m);
  const kept = tests.filter((unitTest) => !EXCLUDED_TESTS.test(unitTest));
  const added = kept.map((unitTest) =>
    unitTest.replace(/^ {4}input_series:\n/m, (line) => line + createUpInput(unitTest)),
  );
  return [head, ...added].join('');
}

const files = listDeployYaml('prometheus/tests').filter((name) => !name.endsWith('/discovery.yml'));

test('the unit tests get targets of service codes', () => {
  const targets = files.flatMap(
    (file) =>
      addDiscoveredTargets(readDeployFile(file)).match(
        /up\{job="xvs-exporter", instance="[^"]*", service_code=/g,
      ) ?? [],
  );
  assert.ok(targets.length > 60, `${targets.length} targets`);
});

for (const file of files) {
  test(`${file} passes if each service code is a separate target`, async (t) => {
    if (!isInstalled(t, 'promtool')) return;
    using folder = new TemporaryFolder();
    cpSync(deployPath('prometheus'), folder.at('prometheus'), { recursive: true });
    writeFileSync(folder.at(file), addDiscoveredTargets(readDeployFile(file)));
    assert.match(await runPromtool(['test', 'rules', folder.at(file)]), /SUCCESS/);
  });
}
