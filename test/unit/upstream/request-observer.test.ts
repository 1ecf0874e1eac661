import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildListingAddress } from '../../../src/upstream/signing.ts';
import type { SigningScheme } from '../../../src/upstream/signing.ts';
import { redactRequest } from '../../../src/upstream/request-observer.ts';
import { PUBLISHED_SCHEME } from '../../support/published-scheme.ts';

const headers = { 'xvs-signature': 'c576f321', 'xvs-timestamp': '1443494296533', 'x-own': 'c576f321' };

function redact(serviceCode: string, scheme: Partial<SigningScheme> = {}, secret = 'abc') {
  const address = buildListingAddress('http://127.0.0.1:8080/live/', serviceCode);
  return redactRequest(secret, { ...PUBLISHED_SCHEME, ...scheme }, address, headers);
}

test('the request line is percent-encoded and the string to sign is not', () => {
  const redacted = redact('A B');
  assert.equal(redacted.line, 'GET /live/api/20140928/task_list?service_code=A%20B HTTP/1.1');
  assert.equal(redacted.stringToSign, '/live/api/20140928/task_listservice_code=A B1443494296533');
  assert.equal(redacted.headers['host'], '127.0.0.1:8080');
});

test('the signature is masked in the header that the scheme names', () => {
  assert.equal(redact('A').headers['xvs-signature'], '<signature of 8 characters>');
  assert.equal(redact('A', { signatureHeader: 'x-own' }).headers['x-own'], '<signature of 8 characters>');
});

test('a secret in the template is masked, but not the same text in a service code', () => {
  const redacted = redact('abc', { template: 'abc{query}{timestamp}' });
  assert.equal(redacted.stringToSign, '<secret>service_code=abc1443494296533');
});
