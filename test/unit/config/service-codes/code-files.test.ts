import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { LOCAL_FILE_SYSTEM } from '../../../../src/config/file-system.ts';
import {
  loadConfiguration,
  catchConfigErrorMessage,
  createSource,
  REQUIRED_ENVIRONMENT,
  SECRET,
  type Files,
} from '../../../support/configuration.ts';
import { repositoryPath } from '../../../support/repository.ts';
import { TemporaryFolder } from '../../../support/temporary-folder.ts';

const ENV = { XVS_UPSTREAM_BASE_URL: REQUIRED_ENVIRONMENT.XVS_UPSTREAM_BASE_URL, XVS_SECRET: SECRET };
const YML = 'service_code_files: [codes/*.yml, codes/*.json]\n';

const codesOf = async (files: Files, yml = YML): Promise<readonly string[]> =>
  (await loadConfiguration({ env: ENV, yml, files })).serviceCodes.map(({ serviceCode }) => serviceCode);

/** Files, and the codes that they give. */
const FOUND: readonly [string, Files, string][] = [
  ['no folder', {}, ''],
  ['a folder without matching files', { '/etc/codes/a.txt': '- A' }, ''],
  ['YAML', { '/etc/codes/a.yml': '- A\n- service_code: B\n' }, 'A B'],
  ['JSON', { '/etc/codes/a.json': '["A", {"service_code": "B"}]' }, 'A B'],
  [
    'several, ordered by path and then by name',
    { '/etc/codes/b.yml': '- B', '/etc/codes/a.yml': '- A', '/etc/codes/0.json': '["C"]' },
    'A B C',
  ],
  [
    'hidden files',
    { '/etc/codes/.a.yml': '- A', '/etc/codes/..data.json': '["B"]', '/etc/codes/c.yml': '- C' },
    'C',
  ],
  [
    'other extensions',
    { '/etc/codes/a.yml~': '- A', '/etc/codes/b.yml.bak': '- B', '/etc/codes/cxyml': '- C' },
    '',
  ],
  [
    'a file deleted between listing and reading',
    { '/etc/codes/a.yml': { code: 'ENOENT' }, '/etc/codes/b.yml': '- B' },
    'B',
  ],
];

for (const [name, files, expected] of FOUND) {
  test(`codes from files: ${name}`, async () => {
    assert.equal((await codesOf(files)).join(' '), expected);
  });
}

test('codes of the setting come first, and its list may be empty', async () => {
  const yml = 'service_codes: [Z]\nservice_code_files: [codes/*.yml, gone.yml]\n';
  assert.deepEqual(await codesOf({ '/etc/codes/a.yml': '- A' }, yml), ['Z', 'A']);
  assert.deepEqual(await codesOf({}, `service_codes: []\n${YML}`), []);
});

test('the variable and the flag accept commas, the flag may be repeated, and both are relative to the working directory', async () => {
  const files = { 'a.yml': '- A', '/b/c.json': '["B"]', 'codes/x1y.yml': '- X' };
  const env = { ...ENV, XVS_SERVICE_CODE_FILES: 'a.yml, /b/*.json' };
  const names = async (args: readonly string[]) =>
    (await loadConfiguration({ env, args, files })).serviceCodes.map(({ serviceCode }) => serviceCode);
  assert.deepEqual(await names([]), ['A', 'B']);
  const args = ['--service-code-files=codes/x*y.yml', '--service-code-files=/b/*.json'];
  assert.deepEqual(await names(args), ['X', 'B']);
});

test('an entry of a file equals one of the setting, and its paths are relative to the folder of that file', async () => {
  const entry = {
    service_code: 'A',
    secret_file: 's/a',
    interval: '1m',
    timeout: '2s',
    base_url: 'http://h',
  };
  const files = { '/etc/codes/a.json': JSON.stringify([entry]), '/etc/codes/s/a': 'own\n' };
  const { serviceCodes } = await loadConfiguration({ env: ENV, yml: YML, files });
  const { secret_file: _, ...inFile } = entry;
  const yml = `service_codes: [${JSON.stringify({ ...inFile, secret: 'own' })}]`;
  assert.deepEqual(serviceCodes, (await loadConfiguration({ env: ENV, yml })).serviceCodes);
});

const PATH = 'the path of a YAML or JSON file (.yml, .yaml, .json), with one "*" in its name at most';

for (const [path, found, remedy = ''] of [
  ["'codes/*'", '"codes/*"'],
  ['codes/a.txt', '"codes/a.txt"'],
  ["'c*/a.yml'", '"c*/a.yml"', '; list each folder and each pattern separately'],
  ["'a-*-*.yml'", '"a-*-*.yml"', '; list each folder and each pattern separately'],
  ['7', '7'],
]) {
  test(`the path ${path} is rejected`, async () => {
    const yml = `service_code_files: [${path}]`;
    assert.equal(
      await catchConfigErrorMessage(() => loadConfiguration({ env: ENV, yml })),
      `/etc/xvs.yml:1:22 service_code_files[0]: expected ${PATH}, found ${found}${remedy}`,
    );
  });
}

/** Invalid files and the message about them. */
const WRONG_FILES: readonly [string, Files, string][] = [
  [
    'a duplicate key in JSON',
    { '/etc/codes/a.json': '[{"service_code": "A",\n  "secret": "a", "secret": "b"}]' },
    '/etc/codes/a.json:2:18: expected valid YAML, found the key "secret" a second time',
  ],
  [
    'mistakes in two files',
    { '/etc/codes/a.yml': '7', '/etc/codes/b.yml': '8' },
    '/etc/codes/a.yml:1:1: expected a list of service codes, found 7\n/etc/codes/b.yml:1:1: expected a list of service codes, found 8',
  ],
];

for (const [name, files, expected] of WRONG_FILES) {
  test(`a mistake in a file is reported with its location: ${name}`, async () => {
    const message = await catchConfigErrorMessage(() => loadConfiguration({ env: ENV, yml: YML, files }));
    assert.equal(message, expected);
    assert.ok(!message.includes(SECRET));
  });
}

test('the example is a valid service code file', async () => {
  const example = readFileSync(repositoryPath('config/codes/tenants.yml'), 'utf8');
  const files = {
    '/etc/codes/tenants.yml': example,
    '/run/secrets/acme-live': SECRET,
    '/run/secrets/globex-live': SECRET,
  };
  const { serviceCodes } = await loadConfiguration({ env: ENV, yml: YML, files });
  assert.deepEqual(
    serviceCodes.map(({ labels }) => labels['tenant']),
    ['acme', 'globex'],
  );
});

test('YAML has at most 256 KiB, and a mistake in JSON beyond it has no line', async () => {
  const padding = ' '.repeat(1024 * 1024);
  const load = (files: Files) => catchConfigErrorMessage(() => codesOf(files));
  assert.match(
    await load({ '/etc/codes/a.yml': `- A\n#${padding}` }),
    /^\/etc\/codes\/a\.yml: expected at most 256 KiB of YAML, found more; list service codes in JSON/,
  );
  assert.match(
    await load({ '/etc/codes/a.json': `["", "A"${padding}]` }),
    /^\/etc\/codes\/a\.json \[0\]\.service_code: /,
  );
});

for (const [name, paths] of [
  ['a link beside it', ['a.yml', 'link.yml']],
  ['a path with a pattern that matches both', ['*.yml']],
  ['a linked folder', ['a.yml', 'folder/a.yml', 'folder/*.yml']],
] as const) {
  test(`a file that is also reached by ${name} counts once`, async () => {
    using folder = new TemporaryFolder();
    folder.replace('a.yml', '- A');
    folder.link('link.yml', 'a.yml');
    folder.link('folder', '.');
    const env = { ...ENV, XVS_SERVICE_CODE_FILES: paths.map((path) => folder.at(path)).join(',') };
    const source = createSource({ env }, LOCAL_FILE_SYSTEM);
    const { configuration, codeFiles } = await source.load();
    assert.deepEqual(
      [configuration.serviceCodes.map(({ serviceCode }) => serviceCode), codeFiles.length],
      [['A'], 1],
    );
  });
}

test('twenty codes of a file are validated in a turn of the event loop', async () => {
  let turns = 0;
  const count = (): void => {
    turns += 1;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  const names = Array.from({ length: 500 }, (_, index) => `CODE${index}`);
  const files = { '/etc/codes/a.json': JSON.stringify([...names, { service_code: 7 }]) };
  await assert.rejects(codesOf(files), /a\.json.* \[500\]\.service_code: expected a service code/);
  clearImmediate(timer);
  assert.ok(turns >= 25, `${turns} turns`);
});

test('expected names are compared in NFC, without blanks around them', async () => {
  const yml = (names: string) => `- { service_code: A, task_name: opaque, expect: { names: [${names}] } }`;
  const { serviceCodes } = await loadConfiguration({
    env: ENV,
    yml: YML,
    files: { '/etc/codes/a.yml': yml('"\u00a0Cafe\u0301 "') },
  });
  assert.deepEqual(serviceCodes[0]?.expectation?.names, ['Caf\u00e9']);
  assert.match(
    await catchConfigErrorMessage(() => codesOf({ '/etc/codes/a.yml': yml('Caf\u00e9, Cafe\u0301') })),
    /expected each name once, found "Caf\u00e9" twice$/,
  );
});

test('a location shows 200 characters of a key', async () => {
  for (const key of ['k'.repeat(500), ' '.repeat(500)]) {
    const message = await catchConfigErrorMessage(() =>
      codesOf({ '/etc/codes/a.json': JSON.stringify([{ service_code: 'A', [key]: 'x' }]) }),
    );
    assert.ok(message.includes(`[0]."${key.slice(0, 200)}…": expected`), message);
  }
});
