import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfiguration, catchConfigErrorMessage, SECRET } from '../../support/configuration.ts';
import { assertGolden, readFixture } from '../../support/fixtures.ts';

/** Sections of a name, the text of a configuration file, and the lines of its message. */
const SECTIONS = [
  ...readFixture('config/bad.txt')
    .toString()
    .matchAll(/^=== (.*)\n((?:(?!>>>).*\n)*)/gm),
];

/** Adds a URL and a service code to a text without them, unless it has to stand alone. */
function complete(name: string, text: string): string {
  if (name.endsWith(', alone')) return text;
  const url = /^upstream:/m.test(text) ? '' : 'upstream: { base_url: https://live.example.com }\n';
  const code = `service_codes: [{ service_code: TESTING, secret: ${SECRET} }]\n`;
  return text + url + (/^service_codes:/m.test(text) ? '' : code);
}

/** Files that the texts name. */
const files = {
  '/run/secrets': { code: 'EISDIR' },
  '/run/secrets/testing': `${SECRET}\n`,
  '/run/secrets/empty': '\n',
  '/run/secrets/forbidden': { code: 'EACCES' },
  '/etc/client.pem': readFixture('tls/client.pem').toString(),
  '/etc/client-key.pem': '-----BEGIN PRIVATE KEY-----\n',
};

test('each bad file is rejected with the message below it, which shows no secret', async () => {
  let golden = '';
  for (const [section, name = '', text = ''] of SECTIONS) {
    const yml = complete(name, text);
    const message = await catchConfigErrorMessage(() => loadConfiguration({ yml, files })).catch((error) =>
      assert.fail(`${name}: ${String(error)}`),
    );
    assert.ok(
      !message.includes(SECRET) && !message.includes('8675309'),
      `${name}: the message shows the secret`,
    );
    golden += section + message.replaceAll(/^/gm, '>>> ') + '\n';
  }
  assertGolden('config/bad.txt', golden);
});
