import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ConfigError } from '../../../../src/config/config-error.ts';
import { loadWebConfiguration } from '../../../../src/web/security/web-configuration-file.ts';
import { readFixture } from '../../../support/fixtures.ts';
import { createRunParameters } from '../../../support/run-parameters.ts';
import { CASES } from '../../../unit/web/security/web-configuration-cases.ts';

const FILES: Readonly<Record<string, string>> = {
  '/etc/server.pem': readFixture('tls/server.pem').toString(),
  '/etc/server.key': readFixture('tls/server.key').toString(),
};

/** Rejects with any error but a ConfigError. */
async function load(yml: string): Promise<void> {
  const files: typeof FILES = { ...FILES, '/etc/web.yml': yml };
  const readFile = (path: string): Promise<string> => {
    const text = files[path];
    if (text !== undefined) return Promise.resolve(text);
    return Promise.reject(Object.assign(new Error(path), { code: 'ENOENT' }));
  };
  await loadWebConfiguration('/etc/web.yml', readFile).catch((error: unknown) => {
    assert.ok(error instanceof ConfigError, String(error));
  });
}

const text = fc.string({ unit: fc.constantFrom(...':-?{}[],&*!|>\'"%@` #\t\nabx10\\$'), maxLength: 60 });

test('any text is accepted or a ConfigError', async () => {
  await fc.assert(fc.asyncProperty(text, load), createRunParameters(500));
});

test('any change of a file is accepted or a ConfigError', async () => {
  const corpus = CASES.map(({ yml }) => yml);
  const edit = fc.record({ at: fc.nat(), cut: fc.nat({ max: 3 }), put: text });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...corpus), edit, async (yml, { at, cut, put }) => {
      const start = at % (yml.length + 1);
      await load(yml.slice(0, start) + put + yml.slice(start + cut));
    }),
    createRunParameters(1500),
  );
});
