import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatConfigurationSummary } from '../../../src/config/summary.ts';
import { loadWithSources, REQUIRED_ENVIRONMENT, SECRET, type Files } from '../../support/configuration.ts';
import { assertGolden } from '../../support/fixtures.ts';

const yml = `
upstream:
  base_url: https://live.example.com/
secret_file: secrets/shared
poll:
  interval: 20s
service_codes:
  - PLAIN
  - service_code: OWN
    secret: ${SECRET}
    base_url: http://10.0.0.1:8080/live
    interval: 1m
    timeout: 90s
web:
  listen_address: [':20928', '[::1]:20929']
`;

const given = {
  yml,
  args: ['--log.level=debug'],
  env: {
    XVS_POLL_STALL_AFTER: '2m',
  },
  files: { '/etc/secrets/shared': `${SECRET}-shared\n` },
};

test('the summary has every setting that is set, with its value and origin', async () => {
  const text = formatConfigurationSummary(await loadWithSources(given));
  assertGolden('config/summary.txt', text);
});

test('the summary shows no secret', async () => {
  for (const one of [
    given,
    { env: REQUIRED_ENVIRONMENT },
    { yml: `secret: ${SECRET}`, env: { ...REQUIRED_ENVIRONMENT, XVS_SECRET: '' } },
  ]) {
    assert.doesNotMatch(formatConfigurationSummary(await loadWithSources(one)), new RegExp(SECRET));
  }
});

test('the summary shows where the state is by default', async () => {
  const env = { ...REQUIRED_ENVIRONMENT, STATE_DIRECTORY: '/var/lib/xvs-exporter' };
  assert.match(
    formatConfigurationSummary(await loadWithSources({ env })),
    /^ {2}state\.path +\/var\/lib\/xvs-exporter +\(environment variable STATE_DIRECTORY\)$/m,
  );
});

test('the summary shows where names of tasks are and what is expected', async () => {
  const named = `
tasks: { name: opaque.room }
service_codes:
  - { service_code: A, expect: { tasks: 3, names: [main, backup] } }
  - { service_code: B, task_name: output.file_name, expect: { tasks: 2 } }
  - C
`;
  const env = { ...REQUIRED_ENVIRONMENT, XVS_SERVICE_CODES: '' };
  const text = formatConfigurationSummary(await loadWithSources({ env, yml: named }));
  assert.match(text, / secret +task name +expected tasks\n/);
  assert.match(text, / {2}A .*> +opaque\.room +3: main, backup\n/);
  assert.match(text, / {2}B .*> +output\.file_name +2\n/);
  assert.match(text, / {2}C .*> +opaque\.room\n/);
});

test('the summary shows how many service codes each file has', async () => {
  const summarize = async (files: Files): Promise<string> => {
    const listed = 'service_code_files: [codes/*.json]';
    const env = { ...REQUIRED_ENVIRONMENT, XVS_SERVICE_CODES: '' };
    return formatConfigurationSummary(await loadWithSources({ yml: listed, env, files }));
  };
  const none = await summarize({});
  assert.match(
    none,
    /valid: 0 service codes\.\n[^]*\nService code files: none found\.\n\nService codes: none\.\n$/,
  );
  const found = await summarize({
    '/etc/codes/a.json': '[{ "service_code": "A", "labels": { "tenant": "acme" } }, "B"]',
    '/etc/codes/b.json': '[]',
  });
  assert.match(
    found,
    /\n {2}file +service codes\n {2}\/etc\/codes\/a\.json +2\n {2}\/etc\/codes\/b\.json +0\n\n/,
  );
  assert.match(found, /\n {2}A .* {2}tenant="acme"\n {2}B .*\n$/);
});
