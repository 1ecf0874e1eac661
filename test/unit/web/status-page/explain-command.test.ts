import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatExplainCommand } from '../../../../src/web/status-page/service-code-page.ts';
import { HOSTILE_NAMES } from './hostile-names.ts';

test('the command names the service code and the configuration file', () => {
  assert.equal(
    formatExplainCommand('TESTING', '/etc/xvs-exporter/config.yml'),
    'xvs-exporter once --explain --only=TESTING --config.file=/etc/xvs-exporter/config.yml',
  );
  assert.equal(formatExplainCommand('TESTING', undefined), 'xvs-exporter once --explain --only=TESTING');
});

test('a shell passes any service code on unchanged', () => {
  const codes = fc.oneof(
    fc.constantFrom(...HOSTILE_NAMES),
    fc.string({ unit: 'binary-ascii', minLength: 1 }).filter((code) => !code.includes('\0')),
  );
  const cases = fc.sample(codes, 30);
  const script = cases
    .map((code) => formatExplainCommand(code, undefined).replace('xvs-exporter', 'p'))
    .join('\n');
  const output = execFileSync('sh', ['-c', `p() { printf '%s\\0' "$3"; }\n${script}`], { encoding: 'utf8' });
  assert.deepEqual(
    output.split('\0').slice(0, -1),
    cases.map((code) => `--only=${code}`),
  );
});
