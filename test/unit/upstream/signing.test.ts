import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import fc from 'fast-check';
import { z } from 'zod';

import { buildListingAddress } from '../../../src/upstream/signing.ts';
import { signRequest, createStringToSign } from '../../../src/upstream/signing.ts';
import { readFixture } from '../../support/fixtures.ts';
import { PUBLISHED_SCHEME } from '../../support/published-scheme.ts';

const Vectors = z.object({
  vectors: z.array(
    z.object({
      name: z.string(),
      baseUrl: z.string(),
      serviceCode: z.string(),
      secret: z.string(),
      nowMs: z.number(),
      scheme: z.object({
        algorithm: z.enum(['sha256', 'sha1', 'sha384', 'sha512', 'md5']).default('sha256'),
        template: z.string().default(PUBLISHED_SCHEME.template),
        encoding: z.enum(['hex', 'base64', 'base64url']).default('hex'),
        timestampUnit: z.enum(['ms', 's']).default('ms'),
        signatureHeader: z.string().default('xvs-signature'),
        timestampHeader: z.string().default('xvs-timestamp'),
      }),
      url: z.string(),
      headers: z.record(z.string(), z.string()),
    }),
  ),
});

describe('signing', () => {
  for (const vector of Vectors.parse(JSON.parse(readFixture('signing-vectors.json').toString())).vectors) {
    it(`signs ${vector.name}`, () => {
      const address = buildListingAddress(vector.baseUrl, vector.serviceCode);
      assert.equal(address.url, vector.url);
      assert.deepEqual(signRequest(vector.scheme, vector.secret, address, vector.nowMs), vector.headers);
    });
  }

  it('truncates the timestamp to whole milliseconds', () => {
    const headers = signRequest(PUBLISHED_SCHEME, 'abc', { path: '/', query: '' }, 1443494296533.75);
    assert.equal(headers['xvs-timestamp'], '1443494296533');
  });

  it('does not interpret placeholders and patterns in values', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('{timestamp}', '{path}', '$&', '$1', '{nothing}'));
    fc.assert(
      fc.property(text, text, fc.nat(), (path, query, now) => {
        const signed = createStringToSign('{path}{query}{timestamp}', { path, query }, String(now));
        assert.equal(signed, path + query + String(now));
      }),
    );
  });
});
