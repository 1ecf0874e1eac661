import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  baseUrl,
  formatListenAddress,
  formatLocalAddress,
  listenAddressList,
} from '../../../src/config/addresses.ts';

for (const [host, expected] of [
  [undefined, '127.0.0.1:20928'],
  ['0.0.0.0', '127.0.0.1:20928'],
  ['::', '[::1]:20928'],
  ['::1', '[::1]:20928'],
  ['10.0.0.1', '10.0.0.1:20928'],
  ['localhost', 'localhost:20928'],
] as const) {
  test(`the listen address ${host ?? 'without host'} is reached at ${expected}`, () => {
    assert.equal(formatLocalAddress({ host, port: 20_928 }), expected);
    assert.ok(URL.canParse(`http://${expected}`));
  });
}

for (const text of [':20928', 'localhost:20928', '127.0.0.1:1', 'unix:/run/xvs/exporter.sock']) {
  test(`the listen address ${text} is parsed and formatted`, () => {
    assert.deepEqual(listenAddressList.parse([text]).map(formatListenAddress), [text]);
  });
}

for (const text of [
  'unix:',
  'unix:exporter.sock',
  'unix:20928x',
  'exporter.sock',
  `unix:/${'x'.repeat(103)}`,
  ':99999',
]) {
  test(`the listen address ${text} is rejected`, () => {
    assert.equal(listenAddressList.safeParse([text]).success, false);
  });
}

for (const [text, hint] of [
  ['http://::1:80', 'put an IPv6 address in brackets, as in [::1]:80'],
  ['https://2001:db8::1/live', 'put an IPv6 address in brackets, as in [::1]:80'],
  ['http://live.example.com:99999', 'a port is at most 65535'],
  ['https://[::1]:65536/live', 'a port is at most 65535'],
  ['http://live example.com:80', undefined],
  ['live.example.com', undefined],
] as const)
  test(`the base URL ${text} is rejected with ${hint === undefined ? 'no hint' : `the hint "${hint}"`}`, () => {
    const message = baseUrl.safeParse(text).error?.issues[0]?.message;
    const expected = 'an http or https URL such as https://live.example.com';
    assert.equal(message, `expected ${expected}, found "${text}"${hint === undefined ? '' : `; ${hint}`}`);
  });
