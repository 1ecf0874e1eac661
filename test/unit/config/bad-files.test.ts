import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadConfiguration, catchConfigErrorMessage, SECRET } from '../../support/configuration.ts';
import { assertGolden } from '../../support/fixtures.ts';

const folder = new URL('../../../../test/fixtures/config/bad/', import.meta.url);
const names = readdirSync(fileURLToPath(folder)).filter((name) => name.endsWith('.yml'));

/** Files that the bad files name. */
const files = {
  '/run/secrets': { code: 'EISDIR' },
  '/run/secrets/testing': `${SECRET}\n`,
  '/run/secrets/empty': '\n',
  '/run/secrets/forbidden': { code: 'EACCES' },
  '/etc/client.pem': '-----BEGIN CERTIFICATE-----\n',
  '/etc/client-key.pem': '-----BEGIN PRIVATE KEY-----\n',
};

for (const name of names) {
  test(`${name} is rejected with the message next to it, which shows no secret`, async () => {
    const yml = readFileSync(new URL(name, folder), 'utf8');
    const message = await catchConfigErrorMessage(() => loadConfiguration({ yml, files }));
    assertGolden(`config/bad/${name.replace('.yml', '.txt')}`, `${message}\n`);
    assert.ok(!message.includes(SECRET) && !message.includes('8675309'), 'the message shows the secret');
  });
}
