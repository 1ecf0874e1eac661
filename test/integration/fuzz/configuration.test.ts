import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { ConfigError } from '../../../src/config/config-error.ts';
import { SERVICE_CODE_KEYS } from '../../../src/config/service-codes/schema.ts';
import { listSettings } from '../../../src/config/settings.ts';
import {
  loadConfiguration,
  REQUIRED_ENVIRONMENT,
  SECRET,
  type ConfigurationInput,
} from '../../support/configuration.ts';
import { fixturePath, readFixture } from '../../support/fixtures.ts';
import { repositoryPath } from '../../support/repository.ts';
import { mutateBytes } from './mutation.ts';
import { createRunParameters } from '../../support/run-parameters.ts';

const readYamlFiles = (folder: string): Buffer[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.yml'))
    .map((name) => readFileSync(join(folder, name)));

const CORPUS = [
  ...readYamlFiles(repositoryPath('config')),
  ...readFixture('config/bad.txt')
    .toString()
    .split(/^(?:===|>>>).*\n/m)
    .map((text) => Buffer.from(text)),
  ...readYamlFiles(fixturePath('fuzz/configurations')),
];

const DICTIONARY = [
  [...':-?{}[],&*!|>\'"%@`#\\~=<. \n\t\0'],
  ['  ', '\n  - ', ': ', '---\n', '...\n', '%YAML 1.2\n', '&a ', '!!binary ', '!!set ', '|\n', '>-\n', '? '],
  '*a <<:*a null true yes 0x1 1e9 .inf .nan 0o7 -1 1_000 15s 256MiB 1h 99999999999d [ ]]'.split(' '),
  ['secret: ', 'secret_file: ', 'service_codes: ', 'service_code: A', 'base_url: ', 'https://h'],
  ['upstream: ', 'poll: {interval: ', '{"a":1}', '__proto__: ', 'constructor: '],
  ['"\\ud800"', '"\\x00"', '\ufeff', '\u2028', '\u0085'],
].flat();

/**
 * Loads a configuration and returns its error message; empty if it is valid. Rejects with any other error.
 */
async function loadForError(given: ConfigurationInput): Promise<string> {
  try {
    await loadConfiguration(given);
    return '';
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

/** Asserts that each line of a message has a location and a text. */
function assertWellFormed(message: string): void {
  for (const line of message.split('\n').filter((one) => one !== '')) assert.match(line, /\S: \S/);
}

const KNOWN_LINES = new Set(CORPUS.flatMap((bytes) => bytes.toString().split('\n')));

/**
 * Whether every secret is still at its place. At other places, the program cannot know that a text is a
 * secret.
 */
function canCheckSecret(text: string): boolean {
  const isMoved = text.split('\n').some((line) => line.includes(SECRET) && !KNOWN_LINES.has(line));
  return !isMoved && !/["'|>]/.test(text);
}

test('a mutated file is valid or rejected with a message without secrets', async () => {
  await fc.assert(
    fc.asyncProperty(mutateBytes(CORPUS, DICTIONARY), async (bytes) => {
      const yml = bytes.toString();
      const message = await loadForError({ yml, env: REQUIRED_ENVIRONMENT });
      assertWellFormed(message);
      if (canCheckSecret(yml)) assert.equal(message.includes(SECRET), false, message);
    }),
    createRunParameters(150),
  );
});

test('any value of any setting is accepted or rejected, and the message names the setting', async () => {
  const settings = listSettings().filter(([, { excludedSource }]) => excludedSource !== 'file');
  const path = fc.constantFrom(...settings.map(([name]) => name));
  await fc.assert(
    fc.asyncProperty(path, fc.jsonValue(), async (name, value) => {
      const nested = name.split('.').reduceRight<unknown>((inner, step) => ({ [step]: inner }), value);
      // A number of shards asks for the host name, which ends with the index.
      const given = { yml: stringify(nested), env: REQUIRED_ENVIRONMENT, hostName: 'xvs-exporter-0' };
      const message = await loadForError(given);
      return message === '' || message.includes(name);
    }),
    createRunParameters(100),
  );
});

test('any value of any key of a service code is accepted or rejected', async () => {
  const key = fc.constantFrom(...Object.keys(SERVICE_CODE_KEYS));
  await fc.assert(
    fc.asyncProperty(key, fc.jsonValue(), async (name, value) => {
      const yml = stringify({ service_codes: [{ service_code: 'A', [name]: value }] });
      assertWellFormed(await loadForError({ yml, env: REQUIRED_ENVIRONMENT }));
    }),
  );
});

test('no message shows a misquoted secret', async () => {
  const around = fc.string({ unit: fc.constantFrom(...':-?{}[],&*!|>\'"%@` #\\\t') });
  await fc.assert(
    fc.asyncProperty(around, around, fc.boolean(), async (before, after, ofCode) => {
      const key = ofCode ? 'service_codes:\n  - service_code: A\n    secret' : 'poll: {}\nsecret';
      const yml = `${key}: ${before}${SECRET}${after}\n`;
      const message = await loadForError({ yml, env: REQUIRED_ENVIRONMENT });
      return !message.includes(SECRET);
    }),
    createRunParameters(500),
  );
});
