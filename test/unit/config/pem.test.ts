import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { findCaMistake, findKeyPairMistake, readPem } from '../../../src/config/pem.ts';
import {
  catchConfigErrorMessage,
  loadConfiguration,
  REQUIRED_ENVIRONMENT,
} from '../../support/configuration.ts';
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
  ['a byte order mark', `\ufeff${one}${two}`, 'with one behind other characters'],
  ['an indented certificate', `${one}${two?.replaceAll(/^/gm, '  ')}`, 'with one behind other characters'],
  [
    'two certificates without a line feed between',
    `${one?.trimEnd()}${two}`,
    'with one behind other characters',
  ],
  ['a certificate in a comment', `${one}${two?.replaceAll(/^/gm, '# ')}`, undefined],
] as const)
  test(`a file with ${name} is ${found === undefined ? 'read' : 'a mistake'}`, async () => {
    const file = { path: '/etc/ca.pem', locate: () => 'upstream.ca_file' };
    const read = await readPem(() => Promise.resolve(text), file, 'CERTIFICATE');
    if (found === undefined) assert.equal(read, text);
    else assert.ok(typeof read !== 'string' && read.message.includes(found), JSON.stringify(read));
  });

const [crossA = '', crossB = '', root = ''] = ['cross-a', 'cross-b', 'cross-a-root'].map((name) =>
  readFixture(`tls/${name}.pem`).toString(),
);

const [circleA = '', circleB = '', earlierA = '', rootA = ''] = ['a', 'b', 'a-earlier', 'a-root'].map(
  (name) => readFixture(`tls/circle-${name}.pem`).toString(),
);

/** Node.js takes the first certificate that can be the issuer. */
for (const [name, text, isCircle] of [
  ['signed each other', crossA + crossB, true],
  ['signed each other, where the self-signed one is last', crossB + crossA + root, true],
  ['signed each other, where the self-signed one is first', root + crossA + crossB, false],
  ['signed each other, with names that differ in case', circleA + circleB, true],
  [
    'signed each other, where one has a self-signed certificate of an earlier key',
    earlierA + circleA + circleB,
    true,
  ],
  [
    'signed each other, where the self-signed one differs in case and is first',
    rootA + circleA + circleB,
    false,
  ],
  ['one authority signed, where the other is missing', crossA, false],
  ['are self-signed or lead to one that is', bundle, false],
] as const)
  test(`authorities that ${name} are ${isCircle ? 'a mistake' : 'accepted'}`, () => {
    const found = /found a circle of "CN=[^"]+ c\w+-[ab] and CN=[^"]+ c\w+-[ab]"; remove one, or put their/;
    if (isCircle) assert.match(findCaMistake(text) ?? '', found);
    else assert.equal(findCaMistake(text), undefined);
  });

test('a configuration whose authorities have signed each other is rejected', async () => {
  const message = await catchConfigErrorMessage(() =>
    loadConfiguration({
      env: REQUIRED_ENVIRONMENT,
      yml: 'upstream: { ca_file: ca.pem }',
      files: { '/etc/ca.pem': crossA + crossB },
    }),
  );
  assert.match(
    message,
    /^\/etc\/xvs\.yml:1:\d+ upstream\.ca_file: expected authorities that lead to a self-signed/,
  );
});

test('a key of another type than the one of the certificate is a mistake', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const rsaKey = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const cert = readFixture('tls/server.pem').toString();
  assert.equal(findKeyPairMistake(cert, readFixture('tls/server.key').toString()), undefined);
  const mistake = findKeyPairMistake(cert, rsaKey);
  assert.match(mistake?.message ?? '', /found the key of a different certificate$/);
});
