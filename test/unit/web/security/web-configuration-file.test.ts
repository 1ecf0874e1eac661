import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadWebConfiguration } from '../../../../src/web/security/web-configuration-file.ts';
import { catchConfigErrorMessage } from '../../../support/configuration.ts';
import { assertGolden, readFixture } from '../../../support/fixtures.ts';
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
  const runPromtool = (yml: string): string => {
    writeFileSync(path, yml);
    const { status, stderr } = spawnSync('promtool', ['check', 'web-config', path], { encoding: 'utf8' });
    if (status === 0) return 'accepts';
    // Debian's promtool of 2023 does not know these keys yet.
    return /field (?:rate_limit|client_allowed_sans|cert|key|client_ca) not found/.test(stderr)
      ? 'unknown key'
      : 'rejects';
  };
  for (const { name, yml, rejection } of CASES) {
    const found = runPromtool(yml);
    const expected = rejection === undefined ? 'accepts' : 'rejects';
    if (name.endsWith('(promtool accepts it)')) assert.notEqual(found, 'unknown key', name);
    else if (found !== 'unknown key') assert.equal(found, expected, name);
    else assert.match(name + yml, /\(promtool is older\)|rate_limit|client_allowed_sans/);
  }
});

test('certificates and keys can be inline; files take precedence', async (t) => {
  const path = join(certificateFolder(t), 'web.yml');
  const [cert, key] = [readFixture('tls/server.pem').toString(), readFixture('tls/server.key').toString()];
  writeFileSync(path, JSON.stringify({ tls_server_config: { cert, key } }));
  const { tls } = await load(path);
  assert.equal(tls?.secureContext.cert, cert);
  writeFileSync(path, JSON.stringify({ tls_server_config: { cert: 'junk', cert_file: 'server.pem', key } }));
  const { tls: fromFile } = await load(path);
  assert.equal(fromFile?.secureContext.cert, cert);
  writeFileSync(path, JSON.stringify({ tls_server_config: { cert, key: `${key.slice(0, 60)}\n` } }));
  const message = await catchConfigErrorMessage(() => load(path));
  assert.match(
    message,
    /tls_server_config\.key: expected the unencrypted key of the certificate, found an invalid one/,
  );
  assert.ok(!message.includes(key.slice(30, 50)));
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
  assert.deepEqual([all.tls?.clientAuth.isRequired, all.users.size, all.rateLimit?.burst], [true, 1, 20]);
  assert.equal(all.headers['X-Frame-Options'], 'deny');
});

test('user names keep their spelling', async (t) => {
  const path = join(certificateFolder(t), 'web.yml');
  writeFileSync(path, `basic_auth_users: { 007: ${HASH}, yes: ${HASH}, 0x1F: ${HASH}, __proto__: ${HASH} }`);
  const { users } = await load(path);
  assert.deepEqual([...users.keys()], ['007', 'yes', '0x1F', '__proto__']);
});

test('a long path is accepted and shown; a line of a key is neither', async () => {
  const deep = '/etc/prometheus/exporters/certificates/production/europe/live/server';
  const rejectPath = async (path: string): Promise<string> => {
    const yml = JSON.stringify({ tls_server_config: { cert_file: path, key_file: 'x' } });
    const readOne = (name: string): Promise<string> =>
      name === '/web.yml'
        ? Promise.resolve(yml)
        : Promise.reject(Object.assign(new Error('none'), { code: 'ENOENT' }));
    return await catchConfigErrorMessage(() => loadWebConfiguration('/web.yml', readOne));
  };
  assert.ok((await rejectPath(deep)).includes(`"${deep}", which does not exist`));
  const line = readFixture('tls/server.key').toString().split('\n')[1] ?? '';
  assert.match(await rejectPath(line), /expected the path of a file, found a string that is not a path$/);
});

test('the error for an unreadable file has its path', async () => {
  const message = await catchConfigErrorMessage(() => load('/nowhere/web.yml'));
  assert.equal(
    message,
    'web.config.file: expected a readable file, found "/nowhere/web.yml", which does not exist',
  );
});
