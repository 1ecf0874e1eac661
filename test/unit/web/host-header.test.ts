import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHostHeader } from '../../../src/web/host-header.ts';
import type { Scheme } from '../../../src/web/request.ts';

const LONG_LABEL = 'a'.repeat(63);
const LONG_NAME = [LONG_LABEL, LONG_LABEL, LONG_LABEL, 'b'.repeat(61)].join('.');

const VALID: readonly (readonly [string, Scheme, string])[] = [
  ['localhost', 'http', 'localhost:80'],
  ['localhost', 'https', 'localhost:443'],
  ['localhost:20928', 'http', 'localhost:20928'],
  ['localhost:20928', 'https', 'localhost:20928'],
  ['Exporter-1.live.svc.cluster.local.:1', 'http', 'Exporter-1.live.svc.cluster.local.:1'],
  ['xvs_exporter_1:65535', 'http', 'xvs_exporter_1:65535'],
  ['xn--bcher-kva.example:9', 'http', 'xn--bcher-kva.example:9'],
  ['127.0.0.1', 'http', '127.0.0.1:80'],
  ['127.0.0.1:20928', 'http', '127.0.0.1:20928'],
  ['1.example:80', 'http', '1.example:80'],
  ['[::1]', 'https', '[::1]:443'],
  ['[::1]:20928', 'http', '[::1]:20928'],
  ['[2001:DB8::1]:20928', 'http', '[2001:DB8::1]:20928'],
  ['[::ffff:127.0.0.1]:20928', 'http', '[::ffff:127.0.0.1]:20928'],
  [LONG_NAME, 'http', `${LONG_NAME}:80`],
];

for (const [header, scheme, expected] of VALID) {
  test(`over ${scheme}, ${header} is ${expected}`, () => {
    assert.equal(parseHostHeader(header, scheme), expected);
  });
}

const INVALID: readonly string[] = [
  '',
  ' ',
  'localhost ',
  'local host',
  'localhost:',
  'localhost:0',
  'localhost:080',
  'localhost:65536',
  'localhost:123456',
  'localhost:+80',
  'localhost:80:80',
  ':80',
  'user@localhost',
  'localhost/metrics',
  'localhost?x',
  'localhost#x',
  'http://localhost',
  'a,b',
  '-a',
  'a-',
  'a..b',
  '.',
  '.a',
  'a..',
  'bücher.example',
  'a\u0000',
  'a\n',
  '${x}',
  '1.2.3',
  '1.2.3.4.',
  '256.1.1.1',
  '01.2.3.4',
  '12345',
  'a.1',
  '::1',
  '::1:80',
  '[::1',
  '::1]',
  '[]',
  '[::1]80',
  '[::1]:',
  '[[::1]]',
  '[::1%eth0]',
  '[fe80::1%25eth0]:80',
  '[127.0.0.1]',
  '[localhost]',
  '[1::2::3]',
  '[v1.x]',
  'a'.repeat(64),
  `${LONG_NAME}b`,
];

for (const header of INVALID) {
  test(`${JSON.stringify(header)} is not a host`, () => {
    assert.equal(parseHostHeader(header, 'http'), undefined);
  });
}
