import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import fc from 'fast-check';

import { buildListingAddress } from '../../../src/upstream/signing.ts';
import { arbitraryText } from '../../support/arbitrary-text.ts';

describe('the address of a listing', () => {
  for (const [baseUrl, origin, path] of [
    ['https://live.example.com', 'https://live.example.com', '/api/20140928/task_list'],
    ['https://live.example.com/', 'https://live.example.com', '/api/20140928/task_list'],
    ['http://10.0.0.1:8080/a/b//', 'http://10.0.0.1:8080', '/a/b/api/20140928/task_list'],
    ['http://[::1]:8080/é', 'http://[::1]:8080', '/%C3%A9/api/20140928/task_list'],
    ['https://u:p@LIVE.example.com:443/x?y#z', 'https://live.example.com', '/x/api/20140928/task_list'],
  ] as const) {
    it(`of ${baseUrl} is ${origin}${path}`, () => {
      assert.deepEqual(buildListingAddress(baseUrl, 'A+B'), {
        origin,
        path,
        query: 'service_code=A+B',
        url: `${origin}${path}?service_code=A%2BB`,
      });
    });
  }

  it('round-trips every service code through the query', () => {
    fc.assert(
      fc.property(arbitraryText(), (serviceCode) => {
        const { url } = buildListingAddress('http://127.0.0.1', serviceCode);
        assert.equal(new URL(url).searchParams.get('service_code'), serviceCode);
      }),
    );
  });
});
