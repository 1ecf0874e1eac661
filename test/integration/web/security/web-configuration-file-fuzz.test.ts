import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { ConfigError } from '../../../../src/config/config-error.ts';
import { loadWebConfiguration } from '../../../../src/web/security/web-configuration-file.ts';
import { readFixture } from '../../../support/fixtures.ts';
import { CASES, HASH } from '../../../unit/web/security/web-configuration-cases.ts';
import { createRunParameters } from '../../../support/run-parameters.ts';

const KEY = readFixture('tls/server.key').toString();
const CERT = readFixture('tls/server.pem').toString();
/** The hash and the lines of the key, which no message may contain. */
const SECRETS = [
  HASH.slice(7),
  ...KEY.split('\n').filter((line) => line.length > 20 && !line.startsWith('-')),
];

/** The error message for a file; empty if it is accepted. Rejects with any other error. */
async function loadMessage(yml: string): Promise<string> {
  const files: Readonly<Record<string, string>> = {
    '/etc/web.yml': yml,
    '/etc/server.pem': CERT,
    '/etc/server.key': KEY,
  };
  const readFile = (path: string): Promise<string> => {
    const text = files[path];
    if (text !== undefined) return Promise.resolve(text);
    return Promise.reject(Object.assign(new Error(path), { code: 'ENOENT' }));
  };
  try {
    await loadWebConfiguration('/etc/web.yml', readFile);
    return '';
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

function assertNoSecret(message: string): void {
  for (const secret of SECRETS)
    assert.ok(!message.includes(secret), `the message shows a secret: ${message}`);
}

const SECTIONS: Readonly<Record<string, readonly string[]>> = {
  tls_server_config: [
    'cert',
    'key',
    'client_ca',
    'cert_file',
    'key_file',
    'client_ca_file',
    'client_auth_type',
    'client_allowed_sans',
    'min_version',
    'max_version',
    'cipher_suites',
    'curve_preferences',
    'prefer_server_cipher_suites',
  ],
  http_server_config: ['http2', 'headers'],
  basic_auth_users: ['alice', 'bob'],
  rate_limit: ['interval', 'burst'],
};

/** Valid, misplaced and arbitrary values. */
const value = fc.oneof(
  fc.constantFrom(
    HASH,
    KEY,
    CERT,
    KEY.split('\n')[1],
    'server.pem',
    'server.key',
    'TLS12',
    'RequireAnyClientCert',
  ),
  fc.constantFrom('1s', '10', 'true', 'X25519', 'TLS_AES_128_GCM_SHA256', '', null),
  fc.constantFrom({ 'X-Frame-Options': 'deny' }, { [HASH]: HASH }, [HASH], [KEY], { a: { b: KEY } }),
  fc.jsonValue(),
);

const section = fc.constantFrom(...Object.keys(SECTIONS)).chain((name) => {
  const key = fc.oneof(fc.constantFrom(...(SECTIONS[name] ?? [])), fc.constantFrom(HASH, 'x'), fc.string());
  return fc.tuple(fc.constant(name), fc.oneof(fc.dictionary(key, value, { maxKeys: 6 }), value));
});

test('any mapping is accepted or a ConfigError without secrets', async () => {
  const file = fc.array(section, { maxLength: 4 }).map((sections) => stringify(Object.fromEntries(sections)));
  await fc.assert(
    fc.asyncProperty(file, async (yml) => assertNoSecret(await loadMessage(yml))),
    createRunParameters(1000),
  );
});

test('mutated files are accepted or a ConfigError without secrets', async () => {
  const corpus = CASES.map(({ yml }) => yml.replaceAll('}', `, x: "${HASH}" }`));
  const inline = stringify({ tls_server_config: { cert: CERT, key: KEY }, basic_auth_users: { a: HASH } });
  const edit = fc.record({
    at: fc.nat(),
    cut: fc.nat({ max: 3 }),
    put: fc.string({ unit: fc.constantFrom(...':-?{}[],&*!|>\'"%@` #\t\nabx10\\$'), maxLength: 3 }),
  });
  const edits = fc.array(edit, { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(inline, inline, ...corpus), edits, async (text, changes) => {
      const mutated = changes.reduce((yml, { at, cut, put }) => {
        const start = at % (yml.length + 1);
        return yml.slice(0, start) + put + yml.slice(start + cut);
      }, text);
      assertNoSecret(await loadMessage(mutated));
    }),
    createRunParameters(1500),
  );
});

test('any text is accepted or a ConfigError', async () => {
  const text = fc.string({ unit: fc.constantFrom(...':-?{}[],&*!|>\'"%@` #\t\nabx10'), maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(text, async (yml) => assert.equal(typeof (await loadMessage(yml)), 'string')),
    createRunParameters(500),
  );
});
