import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { acceptsGzip, negotiateFormat } from '../../../src/web/http-messages.ts';
import { readFixture } from '../../support/fixtures.ts';
import { mutateBytes } from './mutation.ts';
import { createRunParameters } from '../../support/run-parameters.ts';

const CORPUS = readFixture('fuzz/accept.txt')
  .toString()
  .split('\n')
  .map((line) => Buffer.from(line));

const DICTIONARY = [
  [...';,="\\*/. \t'],
  'q= q=0 q=1.000 q=0.1234 Q=0.5 version=1.0.0 version="1.0.0" escaping=dots escaping="'.split(' '),
  'text/plain application/openmetrics-text */* text/* gzip identity x-gzip'.split(' '),
  ['\u00e9', '\0', '\r\n'],
].flat();

const CONTENT_TYPE =
  /^(?:text\/plain; version=0\.0\.4|application\/openmetrics-text; version=1\.0\.0); charset=utf-8(?:; escaping=(?:allow-utf-8|underscores|dots|values))?$/;

test('mutated headers of real clients get one of the two formats', () => {
  fc.assert(
    fc.property(mutateBytes(CORPUS, DICTIONARY), (bytes) => {
      const header = bytes.toString('latin1');
      const { format, contentType } = negotiateFormat(header);
      assert.match(contentType, CONTENT_TYPE);
      assert.equal(contentType.startsWith('text/plain'), format === 'text');
      assert.equal(typeof acceptsGzip(header), 'boolean');
    }),
    createRunParameters(500),
  );
});

test('a repetitive header of the maximum length is parsed quickly', () => {
  const LENGTH = 16 * 1024;
  for (const piece of [...DICTIONARY, 'a/a;q=0.5,', 'a;a=";', 'a;a="\\"', ';a=a', ',,', ' ;', '"a" ']) {
    const header = piece.repeat(Math.ceil(LENGTH / piece.length));
    const start = process.cpuUsage();
    negotiateFormat(header);
    negotiateFormat(`text/plain${header}`);
    acceptsGzip(header);
    // CPU time, because it does not depend on other processes.
    const { user } = process.cpuUsage(start);
    assert.ok(user < 1_000_000, `${JSON.stringify(piece)} took ${user} µs`);
  }
});
