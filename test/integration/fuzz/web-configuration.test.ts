import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ConfigError } from '../../../src/config/config-error.ts';
import { loadWebConfiguration } from '../../../src/web/security/web-configuration-file.ts';
import { createFiles } from '../../support/configuration.ts';
import { readFixture } from '../../support/fixtures.ts';
import { createRunParameters } from '../../support/run-parameters.ts';
import { CASES } from '../../unit/web/security/web-configuration-cases.ts';
import { mutateBytes } from './mutation.ts';

const FILES = {
  '/etc/server.pem': readFixture('tls/server.pem').toString(),
  '/etc/server.key': readFixture('tls/server.key').toString(),
};
const CORPUS = CASES.map(({ yml }) => Buffer.from(yml));
const DICTIONARY = [...':-?{}[],&*!|>\'"%@` #\t\nabx10\\$'];

test('a mutated file is accepted or a ConfigError', async () => {
  await fc.assert(
    fc.asyncProperty(mutateBytes(CORPUS, DICTIONARY), async (bytes) => {
      const { readFile } = createFiles({ ...FILES, '/etc/web.yml': bytes.toString() });
      await loadWebConfiguration('/etc/web.yml', readFile).catch((error: unknown) => {
        assert.ok(error instanceof ConfigError, String(error));
      });
    }),
    createRunParameters(1500),
  );
});
