import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listingAddress } from '../../src/upstream/address.ts';
import type { SigningScheme } from '../../src/upstream/signing.ts';
import { describeRequest } from '../../src/upstream/exchange.ts';
import { PUBLISHED_SCHEME } from '../support/published-scheme.ts';

const headers = { 'xvs-signature': 'c576f321', 'xvs-timestamp': '1443494296533', 'x-own': 'c576f321' };

function described(serviceCode: string, scheme: Partial<SigningScheme> = {}, secret = 'abc') {
  const address = listingAddress('http://127.0.0.1:8080/live/', serviceCode);
  return describeRequest({ secret, signing: { ...PUBLISHED_SCHEME, ...scheme } }, address, headers);
}

test('a request is shown as it is sent, and what is signed before it is escaped', () => {
  const shown = described('A B');
  assert.equal(shown.line, 'GET /live/api/20140928/task_list?service_code=A%20B HTTP/1.1');
  assert.equal(shown.stringToSign, '/live/api/20140928/task_listservice_code=A B1443494296533');
  assert.equal(shown.headers['host'], '127.0.0.1:8080');
});

test('the signature is masked, whatever its header is called', () => {
  assert.equal(described('A').headers['xvs-signature'], '<signature of 8 characters>');
  assert.equal(described('A', { signatureHeader: 'x-own' }).headers['x-own'], '<signature of 8 characters>');
});

test('a secret in the template is masked, in a service code that looks like it the same letters stay', () => {
  const shown = described('abc', { template: 'abc{query}{timestamp}' });
  assert.equal(shown.stringToSign, '<secret>service_code=abc1443494296533');
});
