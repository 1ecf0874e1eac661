import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadWebConfiguration } from '../../../src/web/config/web-configuration.ts';
import { messageOf } from '../../support/configuration.ts';
import { fixture } from '../../support/fixtures.ts';
import { isInstalled } from '../../support/installed.ts';
import { certificateFolder } from '../guarded.ts';
import { ACCEPTED, HASH, REFUSED } from './files.ts';
import type { Case } from './files.ts';

const load = (path: string) => loadWebConfiguration(path, (name) => readFile(name, 'utf8'));

test('good files are accepted', async (t) => {
  const path = join(certificateFolder(t), 'web.yml');
  for (const { name, yml } of ACCEPTED) {
    await t.test(name, async () => {
      writeFileSync(path, yml);
      await assert.doesNotReject(load(path));
    });
  }
});

test('others are refused, with place, expectation and finding', async (t) => {
  const folder = certificateFolder(t);
  const path = join(folder, 'web.yml');
  for (const { name, yml, refusal } of REFUSED) {
    await t.test(name, async () => {
      writeFileSync(path, yml);
      const message = await messageOf(() => load(path));
      assert.equal(message.replace(path, '').replaceAll(folder, 'FOLDER'), refusal);
    });
  }
});

test('promtool says the same of each, but for what is noted', (t) => {
  if (!isInstalled(t, 'promtool')) return;
  const folder = certificateFolder(t);
  const path = join(folder, 'web.yml');
  const answer = ({ yml }: Case): string => {
    writeFileSync(path, yml);
    const { status, stderr } = spawnSync('promtool', ['check', 'web-config', path], { encoding: 'utf8' });
    if (status === 0) return 'accepts';
    // Debian's is of 2023, and the format has grown; a newer one takes these keys.
    return /field (?:rate_limit|client_allowed_sans|cert|key|client_ca) not found/.test(stderr)
      ? 'does not know'
      : 'refuses';
  };
  for (const entry of [...ACCEPTED, ...REFUSED]) {
    const { name, refusal, promtool } = entry;
    const found = answer(entry);
    const expected = refusal === undefined ? 'accepts' : 'refuses';
    if (promtool === 'accepts: we are stricter') assert.notEqual(found, 'does not know', name);
    else if (found !== 'does not know') assert.equal(found, expected, name);
    else
      assert.ok(
        promtool === 'refuses: it is older' || /rate_limit|client_allowed_sans/.test(entry.yml),
        name,
      );
  }
});

test('certificates and keys may stand in the file itself; a file beside them wins', async (t) => {
  const path = join(certificateFolder(t), 'web.yml');
  const [cert, key] = [fixture('tls/server.pem').toString(), fixture('tls/server.key').toString()];
  writeFileSync(path, JSON.stringify({ tls_server_config: { cert, key } }));
  const { tls } = await load(path);
  assert.equal(tls?.context.cert, cert);
  writeFileSync(path, JSON.stringify({ tls_server_config: { cert: 'junk', cert_file: 'server.pem', key } }));
  const { tls: again } = await load(path);
  assert.equal(again?.context.cert, cert);
  writeFileSync(path, JSON.stringify({ tls_server_config: { cert, key: `${key.slice(0, 60)}\n` } }));
  const message = await messageOf(() => load(path));
  assert.match(
    message,
    /tls_server_config\.key: expected the key of the certificate, not encrypted, found one that/,
  );
  assert.ok(!message.includes(key.slice(30, 50)));
});

test('config/web.yml is good as it is, and with every setting that is commented out', async (t) => {
  const path = join(certificateFolder(t), 'web.yml');
  const example = fixture('../../config/web.yml').toString();
  writeFileSync(path, example);
  const { tls, users } = await load(path);
  assert.deepEqual([tls?.context.minVersion, users.size], ['TLSv1.2', 0]);
  writeFileSync(
    path,
    example.replaceAll(/^( *)#(?=\S|  -|  \w+(?:-\w+)*: )/gm, '$1').replace('<the hash>', HASH),
  );
  const all = await load(path);
  assert.deepEqual([all.tls?.clientAuth.isRequired, all.users.size, all.rateLimit?.burst], [true, 1, 20]);
  assert.equal(all.headers['X-Frame-Options'], 'deny');
});

test('names of users are taken as they are written', async (t) => {
  const path = join(certificateFolder(t), 'web.yml');
  writeFileSync(path, `basic_auth_users: { 007: ${HASH}, yes: ${HASH}, 0x1F: ${HASH}, __proto__: ${HASH} }`);
  const { users } = await load(path);
  assert.deepEqual([...users.keys()], ['007', 'yes', '0x1F', '__proto__']);
});

test('a long path is a path, and a line of a key is none', async () => {
  const deep = '/etc/prometheus/exporters/certificates/production/europe/live/server';
  const refusal = async (path: string): Promise<string> => {
    const yml = JSON.stringify({ tls_server_config: { cert_file: path, key_file: 'x' } });
    const readOne = (name: string): Promise<string> =>
      name === '/web.yml'
        ? Promise.resolve(yml)
        : Promise.reject(Object.assign(new Error('none'), { code: 'ENOENT' }));
    return await messageOf(() => loadWebConfiguration('/web.yml', readOne));
  };
  assert.ok((await refusal(deep)).includes(`"${deep}", which does not exist`));
  const line = fixture('tls/server.key').toString().split('\n')[1] ?? '';
  assert.match(await refusal(line), /expected the path of a file, found a text that is none$/);
});

test('a file that cannot be read is told by its name', async () => {
  const message = await messageOf(() => load('/nowhere/web.yml'));
  assert.equal(
    message,
    'web.config.file: expected a readable file, found "/nowhere/web.yml", which does not exist',
  );
});
