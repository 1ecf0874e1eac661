import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { findKeyPairMistake, readPem } from '../../../src/config/pem.ts';
import { readFixture } from '../../support/fixtures.ts';

const [one, two] = ['ca.pem', 'intermediate.pem'].map((name) => readFixture(`tls/${name}`).toString());
const bundle = `# Root\n${one}# Intermediate\n${two}`;

for (const [name, text, found] of [
  ['several certificates with comments', bundle, undefined],
  ['a certificate that is cut off', bundle.slice(0, -200), 'certificate 2 of 2 is broken (ERR_OSSL_PEM_'],
  [
    'a certificate without its end',
    `${bundle}-----BEGIN CERTIFICATE-----\n`,
    'certificate 3 of 3 is broken (ERR_',
  ],
  [
    'a certificate with other bytes',
    bundle.replace('CERTIFICATE-----\nMII', 'CERTIFICATE-----\nAAA'),
    'certificate 1 of 2 is broken (ERR_OSSL_ASN1_',
  ],
  ['no certificate', 'text', 'which contains none'],
] as const)
  test(`a file with ${name} is ${found === undefined ? 'read' : 'a mistake'}`, async () => {
    const file = { path: '/etc/ca.pem', locate: () => 'upstream.ca_file' };
    const read = await readPem(() => Promise.resolve(text), file, 'CERTIFICATE');
    if (found === undefined) assert.equal(read, text);
    else assert.ok(typeof read !== 'string' && read.message.includes(found), JSON.stringify(read));
  });

test('a key of another type than the one of the certificate is a mistake', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const rsaKey = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const cert = readFixture('tls/server.pem').toString();
  assert.equal(findKeyPairMistake(cert, readFixture('tls/server.key').toString()), undefined);
  const mistake = findKeyPairMistake(cert, rsaKey);
  assert.match(mistake?.message ?? '', /found the key of a different certificate$/);
});
