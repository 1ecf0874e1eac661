import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCommandLine } from '../../src/config/command-line.ts';
import { ConfigurationSource } from '../../src/config/configuration-source.ts';
import { ConfigError } from '../../src/config/problem.ts';
import { filesFrom, NEEDED, SECRET, type Files } from '../support/configuration.ts';
import { noHostName } from '../support/no-host-name.ts';

const CERTIFICATE = '-----BEGIN CERTIFICATE-----\n';

/** A source whose files the test changes. */
function sourceOf(files: Record<string, Files[string]>, args: readonly string[] = []) {
  const { flags } = parseCommandLine(['--config.file=/etc/xvs.yml', ...args]);
  const env = { XVS_UPSTREAM_BASE_URL: NEEDED.XVS_UPSTREAM_BASE_URL };
  return new ConfigurationSource({ flags, env, hostName: noHostName, ...filesFrom(files) });
}

function filesWith(yml: string): Record<string, Files[string]> {
  return {
    '/etc/xvs.yml': `upstream: { ca_file: ca.pem }\nservice_codes: [{ service_code: A, secret_file: a }]\n${yml}`,
    '/etc/ca.pem': CERTIFICATE,
    '/etc/a': SECRET,
    '/etc/b': SECRET,
  };
}

/** What a change of the file, or of one that it names, is, and whether loading anew would read something else. */
const CHANGES: readonly [string, Files, boolean][] = [
  ['nothing', {}, false],
  ['the file itself', { '/etc/xvs.yml': 'poll: {}\n' }, true],
  ['a secret', { '/etc/a': 'another' }, true],
  ['a certificate', { '/etc/ca.pem': `${CERTIFICATE}another` }, true],
  ['a file that it does not name', { '/etc/b': 'another' }, false],
  ['a file that has gone', { '/etc/a': { code: 'ENOENT' } }, true],
  ['a file with the same text, written anew', { '/etc/a': SECRET }, false],
];

for (const [name, change, expected] of CHANGES) {
  test(`a look tells ${expected ? 'of' : 'nothing of'} ${name}`, async () => {
    const files = filesWith('');
    const source = sourceOf(files);
    await source.load();
    Object.assign(files, change);
    assert.equal((await source.look()) !== source.read, expected);
    assert.doesNotMatch(source.read + (await source.look()), new RegExp(SECRET));
  });
}

test('a file that was missing is looked for, so that it is found when it comes', async () => {
  const files = filesWith('');
  delete files['/etc/a'];
  const source = sourceOf(files);
  await assert.rejects(source.load(), ConfigError);
  assert.equal(await source.look(), source.read);
  files['/etc/a'] = SECRET;
  assert.notEqual(await source.look(), source.read);
  const { configuration } = await source.load();
  assert.equal(configuration.serviceCodes[0]?.secret, SECRET);
  assert.equal(await source.look(), source.read);
});

test('the file is read anew with each load, flags and environment stay', async () => {
  const files = filesWith('poll: { interval: 20s, stale_after: 60s }\n');
  const source = sourceOf(files, ['--poll.stale-after=90s']);
  await source.load();
  Object.assign(files, filesWith('poll: { interval: 30s, stale_after: 70s }\n'));
  const { configuration } = await source.load();
  const [code] = configuration.serviceCodes;
  assert.deepEqual([code?.intervalMs, code?.staleAfterMs], [30_000, 90_000]);
  assert.equal(code?.baseUrl, NEEDED.XVS_UPSTREAM_BASE_URL);
});

/** What the file says later, and which settings need a restart. It said `web: { max_requests: 20 }` and `log: { level: warn }`. */
const LATER: readonly [string, string, readonly string[]][] = [
  ['the same', 'web: { max_requests: 20 }\nlog: { level: warn }\n', []],
  ['the same in other words', 'log: { level: "warn" }\nweb: { max_requests: "20" }\n', []],
  ['another number', 'web: { max_requests: 30 }\nlog: { level: warn }\n', ['web.max_requests']],
  ['nothing', '', ['web.max_requests', 'log.level']],
  [
    'another address',
    'web: { max_requests: 20, listen_address: ":1" }\nlog: { level: warn }\n',
    ['web.listen_address'],
  ],
  [
    'more of all groups',
    'web: { max_requests: 20, telemetry_path: /m }\nlog: { level: warn }\nmetrics: { per_task: true }\nconfig: { auto_reload: true }\n',
    ['metrics.per_task', 'web.telemetry_path', 'config.auto_reload'],
  ],
  [
    'another way to poll, and when',
    'web: { max_requests: 20 }\nlog: { level: warn }\npoll: { mode: scrape, min_age: 1s }\n',
    ['poll.mode'],
  ],
  [
    'other settings of what can change',
    'web: { max_requests: 20 }\nlog: { level: warn }\npoll: { interval: 1s }\nsigning: { algorithm: md5 }\nsecret: x\n',
    [],
  ],
];

for (const [name, later, expected] of LATER) {
  test(`what needs a restart is known when the file later says ${name}`, async () => {
    const files = filesWith('web: { max_requests: 20 }\nlog: { level: warn }\n');
    const source = sourceOf(files);
    assert.deepEqual((await source.load()).needRestart, []);
    Object.assign(files, filesWith(later));
    assert.deepEqual((await source.load()).needRestart, expected);
    assert.deepEqual((await source.load()).needRestart, expected);
  });
}

test('what overrides the file takes away the need for a restart', async () => {
  const files = filesWith('');
  const source = sourceOf(files, ['--log.level=debug']);
  await source.load();
  Object.assign(files, filesWith('log: { level: error }\n'));
  assert.deepEqual((await source.load()).needRestart, []);
});

test('files of codes are watched, whether they are there from the start on or not, and no longer than they are named', async () => {
  const files = filesWith('');
  const source = sourceOf(files);
  await source.load();
  assert.equal(source.isWatched, false);
  Object.assign(files, filesWith('service_code_files: [codes/*.yml]\n'));
  await source.load();
  assert.equal(source.isWatched, true);
  const before = source.read;
  files['/etc/codes/b.yml'] = `- { service_code: B, secret: ${SECRET} }`;
  assert.notEqual(await source.look(), before);
  const { configuration, needRestart } = await source.load();
  assert.deepEqual(
    [configuration.serviceCodes.map(({ serviceCode }) => serviceCode), needRestart],
    [['A', 'B'], []],
  );
  Object.assign(files, { '/etc/xvs.yml': 'service_codes: 7' });
  await assert.rejects(source.load(), ConfigError);
  assert.equal(source.isWatched, true);
  Object.assign(files, filesWith(''));
  await source.load();
  assert.equal(source.isWatched, false);
  assert.equal(sourceOf(filesWith(''), ['--config.auto-reload']).isWatched, false);
  const asked = sourceOf(filesWith(''), ['--config.auto-reload']);
  await asked.load();
  assert.equal(asked.isWatched, true);
});
