import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NoProxy } from '../../../src/upstream/no-proxy.ts';

for (const [noProxy, direct, proxied] of [
  ['', [], ['http://a.example', 'http://127.0.0.1']],
  ['*', ['http://a.example', 'https://[::1]:8443'], []],
  ['elsewhere.example, *', ['http://a.example'], []],
  ['a.example', ['http://a.example', 'http://A.example:8080', 'http://b.a.example'], ['http://ba.example']],
  [
    '.a.example,b.example.',
    ['http://a.example', 'http://x.a.example', 'http://b.example'],
    ['http://c.example'],
  ],
  ['*.a.example', ['http://x.a.example'], ['http://xa.example']],
  ['a.example:8080', ['http://a.example:8080'], ['http://a.example', 'https://a.example']],
  ['a.example:443', ['https://a.example'], ['http://a.example']],
  ['127.0.0.0/8', ['http://127.0.0.1:80', 'https://127.255.0.9'], ['http://128.0.0.1', 'http://127.example']],
  ['10.1.0.0/16:8080', ['http://10.1.2.3:8080'], ['http://10.1.2.3', 'http://10.2.2.3:8080']],
  ['192.0.2.1 ::1', ['http://192.0.2.1', 'http://[::1]:9'], ['http://192.0.2.10', 'http://[::2]']],
  ['[2001:db8::1]:443', ['https://[2001:DB8:0::1]'], ['http://[2001:db8::1]']],
  ['[::1]', ['http://[::1]'], ['http://1']],
  ['2001:db8::/32', ['http://[2001:db8:1::7]'], ['http://[2001:db9::7]']],
  ['10.0.0.0/33,10.0.0.0/x,1/2/3,/8', [], ['http://10.0.0.0', 'http://1.0.0.0']],
] as const)
  test(`with no_proxy ${JSON.stringify(noProxy)}, ${direct.length} hosts are asked directly`, () => {
    const hosts = new NoProxy(noProxy);
    assert.deepEqual(
      [...direct, ...proxied].filter((origin) => hosts.includes(origin)),
      direct,
    );
  });
