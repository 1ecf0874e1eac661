import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import {
  findWebWarnings,
  loadWebConfiguration,
} from '../../../../src/web/security/web-configuration-file.ts';
import { catchConfigErrorMessage } from '../../../support/configuration.ts';
import { assertGolden, readFixture, readIdentity } from '../../../support/fixtures.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { certificateFolder } from '../secured-server.ts';
import { CASES, HASH } from './web-configuration-cases.ts';

const load = (path: string) => loadWebConfiguration(path, (name) => readFile(name, 'utf8'));

test('valid files are accepted, others are rejected with location, expectation and finding', async (t) => {
  const folder = certificateFolder(t);
  const path = join(folder, 'web.yml');
  let golden = '';
  for (const { name, yml, rejection } of CASES) {
    writeFileSync(path, yml);
    golden += `=== ${name}\n${yml}`;
    if (rejection === undefined) await load(path);
    else {
      const message = await catchConfigErrorMessage(() => load(path));
      golden += `>>> ${message.replace(path, '').replaceAll(folder, 'FOLDER')}\n`;
    }
  }
  assertGolden('web/configurations.txt', golden);
});

test('promtool agrees, except where noted', (t) => {
  if (!isInstalled(t, 'promtool')) return;
  const folder = certificateFolder(t);
  const path = join(folder, 'web.yml');
  for (const { name, yml, rejection } of CASES) {
    if (name.endsWith('(newer promtools accept it)')) continue;
    writeFileSync(path, yml);
    const { status } = spawnSync('promtool', ['check', 'web-config', path]);
    assert.equal(status === 0, rejection === undefined || name.endsWith('(promtool accepts it)'), name);
  }
});

test('config/web.yml is valid, also with every commented setting enabled', async (t) => {
  const path = join(certificateFolder(t), 'web.yml');
  const example = readFixture('../../config/web.yml').toString();
  writeFileSync(path, example);
  const { tls, users } = await load(path);
  assert.deepEqual([tls?.secureContext.minVersion, users.size], ['TLSv1.2', 0]);
  writeFileSync(
    path,
    example.replaceAll(/^( *)#(?=\S|  -|  \w+(?:-\w+)*: )/gm, '$1').replace('<the hash>', HASH),
  );
  const all = await load(path);
  assert.deepEqual([all.tls?.clientAuth.isRequired, all.users.size], [true, 1]);
  assert.equal(all.headers['X-Frame-Options'], 'deny');
});

test('user names keep their spelling', async (t) => {
  const path = join(certificateFolder(t), 'web.yml');
  writeFileSync(path, `basic_auth_users: { 007: ${HASH}, yes: ${HASH}, 0x1F: ${HASH}, __proto__: ${HASH} }`);
  const { users } = await load(path);
  assert.deepEqual([...users.keys()], ['007', 'yes', '0x1F', '__proto__']);
});

for (const [name, found] of [
  ['server', []],
  ['brainpool', [/curve brainpoolP256r1; every handshake fails/]],
  ['expired', [/expected a certificate that is valid, found one that expired on 2001-01-01/]],
  ['not-yet-valid', [/found one that begins on 2090-01-01/]],
  ['nameless', [/expected a host name or address of this server in subjectAltName, found none/]],
  [
    'client',
    [/expected a certificate for servers, found one for other uses/, /in subjectAltName, found none/],
  ],
] as const)
  test(`of the server certificate ${name}, ${found.length} warnings tell why no scraper takes it`, async (t) => {
    const path = join(certificateFolder(t), 'web.yml');
    const { cert, key } = readIdentity(name);
    writeFileSync(join(dirname(path), 'own.pem'), cert);
    writeFileSync(join(dirname(path), 'own.key'), key);
    writeFileSync(path, 'tls_server_config: { cert_file: own.pem, key_file: own.key }');
    const warnings = findWebWarnings(await load(path), Date.parse('2026-01-01'));
    assert.equal(warnings.length, found.length, warnings.join('\n'));
    for (const [index, pattern] of found.entries()) {
      assert.match(warnings[index] ?? '', /^tls_server_config\.cert_file: /);
      assert.match(warnings[index] ?? '', pattern);
    }
  });

test('the error for an unreadable file has its path', async () => {
  const message = await catchConfigErrorMessage(() => load('/nowhere/web.yml'));
  assert.equal(
    message,
    'web.config.file: expected a readable file, found "/nowhere/web.yml", which does not exist',
  );
});
