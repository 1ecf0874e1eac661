import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settingEntries } from '../../src/config/settings.ts';
import { summary } from '../../src/config/summary.ts';
import { loadedFrom, NEEDED, SECRET } from '../support/configuration.ts';
import { assertGolden } from '../support/fixtures.ts';

const yml = `
upstream:
  base_url: https://live.example.com/
secret_file: secrets/shared
poll:
  interval: 20s
service_codes:
  - PLAIN
  - service_code: OWN
    secret: ${SECRET}
    base_url: http://10.0.0.1:8080/live
    interval: 1m
    timeout: 90s
web:
  listen_address: [':20928', '[::1]:20929']
`;

const given = {
  yml,
  args: ['--log.level=debug'],
  env: {
    XVS_POLL_STALL_AFTER: '2m',
    https_proxy: `http://user:${SECRET}@proxy.example.com:3128`,
    NO_PROXY: 'localhost',
  },
  files: { '/etc/secrets/shared': `${SECRET}-shared\n` },
};

test('the summary tells every setting, its value, and where it came from', async () => {
  const text = summary(await loadedFrom(given));
  assertGolden('config/summary.txt', text);
  for (const [path] of settingEntries()) {
    assert.match(text, new RegExp(`^ {2}${path.replace('.', '\\.')} .*\\(.+\\)$`, 'm'));
  }
});

test('it shows no secret and no password of a proxy', async () => {
  const shared = { ...NEEDED, http_proxy: `user:${SECRET}@proxy.example.com` };
  for (const one of [
    given,
    { env: shared },
    { yml: `secret: ${SECRET}`, env: { ...NEEDED, XVS_SECRET: '' } },
  ]) {
    assert.doesNotMatch(summary(await loadedFrom(one)), new RegExp(SECRET));
  }
});

test('of a secret it tells the size', async () => {
  const text = summary(await loadedFrom({ env: NEEDED }));
  assert.match(text, /^ {2}secret +<secret of 17 bytes> +\(environment variable XVS_SECRET\)$/m);
  assert.match(text, /^ {2}TESTING +https:\/\/live\.example\.com +15s +10s +45s +1m +<secret of 17 bytes>$/m);
});
