import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFixture } from '../../support/fixtures.ts';
import { ConfigError } from '../../../src/config/config-error.ts';
import {
  createSource as createAnySource,
  REQUIRED_ENVIRONMENT,
  SECRET,
  type Files,
} from '../../support/configuration.ts';

const CERTIFICATE = readFixture('tls/ca.pem').toString();

/** Creates a source whose files the test changes. */
function createSource(files: Files, args: readonly string[] = []) {
  const env = { XVS_UPSTREAM_BASE_URL: REQUIRED_ENVIRONMENT.XVS_UPSTREAM_BASE_URL };
  return createAnySource({ env, files, args: ['--config.file=/etc/xvs.yml', ...args] });
}

function createYamlFiles(yml: string): Record<string, Files[string]> {
  return {
    '/etc/xvs.yml': `upstream: { ca_file: ca.pem }\nservice_codes: [{ service_code: A, secret_file: a }]\n${yml}`,
    '/etc/ca.pem': CERTIFICATE,
    '/etc/a': SECRET,
    '/etc/b': SECRET,
  };
}

test('a check detects changes of the file and of those that it names, also of one that was missing', async () => {
  const files = createYamlFiles('');
  delete files['/etc/a'];
  const source = createSource(files);
  await assert.rejects(source.load(), ConfigError);
  const isChanged = async () => (await source.files.check()) !== source.files.fingerprint;
  assert.equal(await isChanged(), false);
  for (const [path, text, expected] of [
    ['/etc/a', SECRET, true],
    ['/etc/b', 'another', false],
    ['/etc/a', 'another', true],
    ['/etc/ca.pem', `${CERTIFICATE}another`, true],
    ['/etc/xvs.yml', createYamlFiles('poll: {}\n')['/etc/xvs.yml'] ?? '', true],
  ] as const) {
    files[path] = text;
    assert.equal(await isChanged(), expected, path);
    await source.load();
    assert.equal(await isChanged(), false, path);
  }
});

test('each load reads the file again; flags and environment stay the same', async () => {
  const files = createYamlFiles('poll: { interval: 20s, stale_after: 60s }\n');
  const source = createSource(files, ['--poll.stale-after=90s']);
  await source.load();
  Object.assign(files, createYamlFiles('poll: { interval: 30s, stale_after: 70s }\n'));
  const { configuration } = await source.load();
  const [code] = configuration.serviceCodes;
  assert.deepEqual([code?.intervalMs, code?.staleAfterMs], [30_000, 90_000]);
  assert.equal(code?.baseUrl, REQUIRED_ENVIRONMENT.XVS_UPSTREAM_BASE_URL);
});

const FIRST = 'web: { max_requests: 20 }\nlog: { level: warn }\n';

for (const [later, expected] of [
  [FIRST, []],
  ['log: { level: "warn" }\nweb: { max_requests: "20" }\n', []],
  ['', ['web.max_requests', 'log.level']],
  [
    `${FIRST}metrics: { per_task: true }\nconfig: { auto_reload: true }\n`,
    ['metrics.per_task', 'config.auto_reload'],
  ],
  ['web: { listen_address: ":1" }\n', ['web.listen_address', 'web.max_requests', 'log.level']],
  [`${FIRST}poll: { interval: 1s }\nsigning: { algorithm: md5 }\ntasks: { name: opaque }\nsecret: x\n`, []],
] as const) {
  test(`with the later file ${JSON.stringify(later)}, a restart is needed for [${expected.join(' ')}]`, async () => {
    const files = createYamlFiles(FIRST);
    const source = createSource(files);
    assert.deepEqual((await source.load()).settingsNeedingRestart, []);
    Object.assign(files, createYamlFiles(later));
    assert.deepEqual((await source.load()).settingsNeedingRestart, expected);
    assert.deepEqual((await source.load()).settingsNeedingRestart, expected);
  });
}

test('an overridden setting of the file needs no restart', async () => {
  const files = createYamlFiles('');
  const source = createSource(files, ['--log.level=debug']);
  await source.load();
  Object.assign(files, createYamlFiles('log: { level: error }\n'));
  assert.deepEqual((await source.load()).settingsNeedingRestart, []);
});

test('service code files are watched as long as the file names any', async () => {
  const files = createYamlFiles('');
  const source = createSource(files);
  await source.load();
  assert.equal(source.isWatched, false);
  Object.assign(files, createYamlFiles('service_code_files: [codes/*.yml]\n'));
  await source.load();
  assert.equal(source.isWatched, true);
  files['/etc/codes/b.yml'] = `- { service_code: B, secret: ${SECRET} }`;
  assert.notEqual(await source.files.check(), source.files.fingerprint);
  const { configuration, settingsNeedingRestart } = await source.load();
  assert.deepEqual(
    [configuration.serviceCodes.map(({ serviceCode }) => serviceCode), settingsNeedingRestart],
    [['A', 'B'], []],
  );
  Object.assign(files, { '/etc/xvs.yml': 'service_codes: 7' });
  await assert.rejects(source.load(), ConfigError);
  assert.equal(source.isWatched, true);
  Object.assign(files, createYamlFiles(''));
  await source.load();
  assert.equal(source.isWatched, false);
  assert.equal(createSource(createYamlFiles(''), ['--config.auto-reload']).isWatched, false);
  const asked = createSource(createYamlFiles(''), ['--config.auto-reload']);
  await asked.load();
  assert.equal(asked.isWatched, true);
});

test('paths of service_code_files that match no file are reported', async () => {
  const files = createYamlFiles('service_code_files: [codes/*.yml, codse/*.yml, gone.yml]\n');
  files['/etc/codes/b.yml'] = `- { service_code: B, secret: ${SECRET} }`;
  const { unmatchedPatterns } = await createSource(files).load();
  assert.deepEqual(unmatchedPatterns, ['/etc/codse/*.yml', '/etc/gone.yml']);
});

/**
 * Files that `codes/*.yml` matches at the start, then at a reload, and what the reload gives: codes, and
 * mistakes.
 */
const BAD_FILES: readonly [string, Files, Files, string, string][] = [
  [
    'a file that is no YAML keeps its codes, others apply',
    { 'a.yml': '- A', 'b.yml': '- B' },
    { 'a.yml': '- { A', 'b.yml': '[B, C]' },
    'A B C',
    'a.yml:1:6: expected valid YAML, found inconsistent indentation; check the indentation',
  ],
  [
    'a file that cannot be read keeps its codes',
    { 'a.yml': '- A', 'b.yml': '- B' },
    { 'a.yml': { code: 'EACCES' }, 'b.yml': '- C' },
    'A C',
    '/etc/xvs.yml:1:22 service_code_files[0]: expected a readable file, found "/etc/codes/a.yml", permission denied',
  ],
  [
    'a new file with a mistake has no codes',
    { 'a.yml': '- A' },
    { 'a.yml': '- A', 'b.yml': '- 7' },
    'A',
    'b.yml:1:3 [0]: expected a',
  ],
  [
    'a secret file that disappears leaves the secret in effect',
    { 'a.yml': '- { service_code: A, secret_file: s }', s: 'own' },
    { 'a.yml': '- { service_code: A, secret_file: s }' },
    'A=own',
    'a.yml:1:35 [0].secret_file: expected a readable file with a secret',
  ],
  [
    'the file that lists a code of an unchanged file is the bad one',
    { 'a.yml': '- A', 'b.yml': '- B' },
    { 'a.yml': '[A, B]', 'b.yml': '- B' },
    'A B',
    'a.yml:1:5 [1]: expected each service code once, found "B" again, which is also at /etc/codes/b.yml:1:3 [0]',
  ],
  [
    'a code that moves out of a bad file stays where it was',
    { 'a.yml': '[A, X]', 'b.yml': '- B' },
    { 'a.yml': '[A', 'b.yml': '[B, X]' },
    'A B X',
    'b.yml:1:5 [1]: expected each service code once, found "X" again',
  ],
  [
    'a code that a bad file lists now stays with the bad file that had it',
    { 'a.yml': '- A', 'b.yml': '[B, X]', 'c.yml': '- C' },
    { 'a.yml': '[A, X, C]', 'b.yml': '[B, C]', 'c.yml': '- C' },
    'A B C X',
    'a.yml:1:8 [2]: expected each service code once, found "C" again',
  ],
  [
    'a code that moves between good files',
    { 'a.yml': '[A, X]', 'b.yml': '- B' },
    { 'a.yml': '[A]', 'b.yml': '[B, X]' },
    'A B X',
    '',
  ],
  [
    'a folder that cannot be read keeps the codes of all its files',
    { 'a.yml': '- A', 'b.yml': '- B' },
    { '': { code: 'EACCES' } },
    'A B',
    '/etc/xvs.yml:1:22 service_code_files[0]: expected a readable folder, found "/etc/codes/*.yml", permission denied',
  ],
];

for (const [name, before, after, codes, problem] of BAD_FILES) {
  test(`reload: ${name}`, async () => {
    const configuration = { '/etc/xvs.yml': `service_code_files: [codes/*.yml]\nsecret: ${SECRET}\n` };
    const files: Record<string, Files[string]> = {};
    const write = (next: Files): void => {
      for (const path of Object.keys(files)) delete files[path];
      for (const [file, text] of Object.entries(next)) files[`/etc/codes/${file}`.replace(/\/$/, '')] = text;
      Object.assign(files, configuration);
    };
    write(before);
    const source = createSource(files);
    await source.load();
    const loadAgain = async (): Promise<readonly string[]> => {
      const loaded = await source.load();
      const shown = loaded.configuration.serviceCodes.map(({ serviceCode, secret }) =>
        secret === SECRET ? serviceCode : `${serviceCode}=${secret}`,
      );
      assert.equal(shown.toSorted().join(' '), codes);
      return loaded.codeFiles.flatMap((file) =>
        file.problems.map(({ location, message }) => `${location}: ${message}`),
      );
    };
    write(after);
    const problems = await loadAgain();
    const isFound = problems.some((text) => text.includes(problem));
    assert.equal(isFound, problem !== '', problems.join('\n'));
    assert.deepEqual(await loadAgain(), problems);
    write(before);
    const { codeFiles } = await source.load();
    assert.deepEqual(
      codeFiles.filter((file) => file.problems.length > 0),
      [],
    );
  });
}

test('a code that the configuration lists, too, makes its file invalid, and a mistake in the configuration changes nothing', async () => {
  const files = createYamlFiles('service_code_files: [codes/*.yml]\n');
  files['/etc/codes/b.yml'] = `- { service_code: B, secret: ${SECRET} }`;
  const source = createSource(files);
  await source.load();
  const yml = `service_codes: [{ service_code: B, secret: own }]\nservice_code_files: [codes/*.yml]\n`;
  files['/etc/xvs.yml'] = yml;
  const { configuration, codeFiles } = await source.load();
  assert.deepEqual(
    configuration.serviceCodes.map(({ serviceCode, secret }) => [serviceCode, secret]),
    [['B', 'own']],
  );
  assert.match(codeFiles[0]?.problems[0]?.location ?? '', /^\/etc\/codes\/b\.yml:1:3 \[0\]$/);
  files['/etc/xvs.yml'] = `${yml}service_codes: 7`;
  await assert.rejects(source.load(), ConfigError);
  assert.equal(source.last?.configuration, configuration);
});
