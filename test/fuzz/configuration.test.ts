import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { ConfigError } from '../../src/config/problem.ts';
import { parseCommandLine } from '../../src/config/command-line.ts';
import { settingEntries } from '../../src/config/settings.ts';
import { load, NEEDED, SECRET, type Case } from '../support/configuration.ts';
import { fixturePath } from '../support/fixtures.ts';
import { repositoryPath } from '../support/repository.ts';
import { mutated } from './mutation.ts';
import { runs } from './runs.ts';

const filesOf = (folder: string): Buffer[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.yml'))
    .map((name) => readFileSync(join(folder, name)));

const CORPUS = [
  ...filesOf(repositoryPath('config')),
  ...filesOf(fixturePath('config/bad')),
  ...filesOf(fixturePath('fuzz/configurations')),
];

const DICTIONARY = [
  [...':-?{}[],&*!|>\'"%@`#\\~=<. \n\t\0'],
  [
    '  ',
    '\n  - ',
    ': ',
    '---\n',
    '...\n',
    '%YAML 1.2\n',
    '<<: *a',
    '&a ',
    '*a',
    '!!binary ',
    '!!set ',
    '|\n',
    '>-\n',
  ],
  [
    'null',
    'true',
    'yes',
    '0x1',
    '1e9',
    '.inf',
    '.nan',
    '0o7',
    '-1',
    '1_000',
    '15s',
    '256MiB',
    '1h',
    '99999999999d',
  ],
  [
    'secret: ',
    'secret_file: ',
    'service_codes: ',
    'service_code: A',
    'upstream: ',
    'base_url: ',
    'https://h',
    'poll: {interval: ',
  ],
  [
    '"\\ud800"',
    '"\\x00"',
    '\ufeff',
    '\u2028',
    '\u0085',
    '{"a":1}',
    '__proto__: ',
    'constructor: ',
    '? ',
    '[',
    ']]',
  ],
].flat();

/** What a configuration comes to: nothing, or the message that it is refused with. Any other error gets out. */
async function refusalOf(given: Case): Promise<string> {
  try {
    await load(given);
    return '';
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

/** A message says where, what was expected and what was found. */
function check(message: string): void {
  for (const line of message.split('\n').filter((one) => one !== '')) assert.match(line, /\S: \S/);
}

const KNOWN_LINES = new Set(CORPUS.flatMap((bytes) => bytes.toString().split('\n')));

/** Whether each secret stands where it stood: as a key, or within other quotes, nobody can tell it from another text. */
function hidesSecret(text: string): boolean {
  const isMoved = text.split('\n').some((line) => line.includes(SECRET) && !KNOWN_LINES.has(line));
  return !isMoved && !/["'|>]/.test(text);
}

test('of files with some bytes changed, each is a configuration or refused with a message, which shows no secret', async () => {
  await fc.assert(
    fc.asyncProperty(mutated(CORPUS, DICTIONARY), async (bytes) => {
      const yml = bytes.toString();
      const message = await refusalOf({ yml, env: NEEDED });
      check(message);
      if (hidesSecret(yml)) assert.equal(message.includes(SECRET), false, message);
    }),
    runs(1200),
  );
});

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '',
    '0',
    '-1',
    '15s',
    '1e3',
    'http://',
    'http://[::1',
    'https://u:p@h',
    ':0',
    '[::]:1',
    '{path}{',
    'TESTING,,A',
    '\ud800',
  ),
);

test('whatever stands in the environment, it is a configuration or refused with a message', async () => {
  const names = settingEntries().map(([path]) => `XVS_${path.replaceAll('.', '_').toUpperCase()}`);
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.constantFrom(...names, 'XVS_NO_SUCH'), text, { maxKeys: 4 }),
      async (env) => {
        // A file that is not there is refused as well.
        check(await refusalOf({ env: { ...NEEDED, ...env } }));
      },
    ),
    runs(600),
  );
});

test('whatever stands on the command line, it is understood or refused with a message', async () => {
  const name = fc.constantFrom(
    ...settingEntries().map(([path]) => path.replaceAll('_', '-')),
    'config.check',
    'x',
  );
  const flag = fc.oneof(
    fc.tuple(name, text).map(([path, value]) => `--${path}=${value}`),
    name.map((path) => `--${path}`),
    text,
  );
  await fc.assert(
    fc.asyncProperty(fc.array(flag, { maxLength: 4 }), async (args) => {
      check(await refusalOf({ args, env: NEEDED }));
      assert.throws(() => {
        parseCommandLine(args);
        throw new ConfigError([]);
      }, ConfigError);
    }),
    runs(600),
  );
});
