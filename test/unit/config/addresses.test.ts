import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatLocalAddress } from '../../../src/config/addresses.ts';

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
