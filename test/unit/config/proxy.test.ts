import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Problem } from '../../../src/config/config-error.ts';
import { readProxySettings } from '../../../src/config/upstream-settings.ts';

for (const [value, httpProxy] of [
  ['proxy.example.com:3128', 'http://proxy.example.com:3128'],
  ['user:p%40ss@proxy.example.com:3128', 'http://user:p%40ss@proxy.example.com:3128'],
] as const) {
  test(`a proxy without scheme is an http proxy: ${value}`, () => {
    const problems: Problem[] = [];
    assert.equal(readProxySettings({ http_proxy: value }, problems).httpProxy, httpProxy);
    assert.deepEqual(problems, []);
  });
}

for (const value of ['ftp://user:hidden@127.0.0.1', 'http://user:hidden@', 'socks5://hidden']) {
  test(`a proxy that is not an http or https URL is rejected and not shown: ${value.slice(0, 6)}`, () => {
    const problems: Problem[] = [];
    assert.equal(readProxySettings({ http_proxy: value }, problems).httpProxy, undefined);
    assert.equal(problems.length, 1);
    assert.match(problems[0]?.location ?? '', /http_proxy$/);
    assert.doesNotMatch(JSON.stringify(problems), /hidden/);
  });
}
