import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseChoices } from '../../src/metrics/accept.ts';
import { acceptsGzip, negotiateFormat } from '../../src/metrics/negotiation.ts';
import { fixture } from '../support/fixtures.ts';
import { mutated } from './mutation.ts';
import { runs } from './runs.ts';

const CORPUS = fixture('fuzz/accept.txt')
  .toString()
  .split('\n')
  .map((line) => Buffer.from(line));

const DICTIONARY = [
  [...';,="\\*/. \t'],
  [
    'q=',
    'q=0',
    'q=1.000',
    'q=0.1234',
    'Q=0.5',
    'version=1.0.0',
    'version="1.0.0"',
    'escaping=dots',
    'escaping="',
  ],
  [
    'text/plain',
    'application/openmetrics-text',
    '*/*',
    'text/*',
    'gzip',
    'identity',
    'x-gzip',
    '\u00e9',
    '\0',
    '\r\n',
  ],
].flat();

const CONTENT_TYPE =
  /^(?:text\/plain; version=0\.0\.4|application\/openmetrics-text; version=1\.0\.0); charset=utf-8(?:; escaping=(?:allow-utf-8|underscores|dots|values))?$/;

test('whatever is changed in the headers of real clients, they get one of the two formats', () => {
  fc.assert(
    fc.property(mutated(CORPUS, DICTIONARY), (bytes) => {
      const header = bytes.toString('latin1');
      const { format, contentType } = negotiateFormat(header);
      assert.match(contentType, CONTENT_TYPE);
      assert.equal(contentType.startsWith('text/plain'), format === 'text');
      assert.equal(typeof acceptsGzip(header), 'boolean');
    }),
    runs(4000),
  );
});

/** A header as its grammar has it (RFC 9110, 12.5.1), and what it says. */
const choice = fc.record({
  value: fc.constantFrom('text/plain', 'application/openmetrics-text', '*/*', 'a/b', 'gzip', '*'),
  parameters: fc.dictionary(
    fc.constantFrom('version', 'escaping', 'x'),
    fc.string({ maxLength: 6, unit: 'grapheme-ascii' }),
    {
      maxKeys: 2,
    },
  ),
  quality: fc.constantFrom('0', '0.', '0.5', '0.125', '1', '1.000'),
  space: fc.constantFrom('', ' ', '\t', ' \t '),
});

test('what is written by the grammar is read as it was meant', () => {
  fc.assert(
    fc.property(fc.array(choice, { maxLength: 5 }), (choices) => {
      const header = choices.map(({ value, parameters, quality, space }) => {
        const pairs = Object.entries(parameters).map(
          ([name, text]) => `${name}="${text.replaceAll(/["\\]/g, '\\$&')}"`,
        );
        return [value, ...pairs, `q=${quality}`].join(`${space};${space}`) + space;
      });
      const wanted = choices.map(({ value, parameters, quality }) => ({
        value,
        parameters: { ...parameters, q: quality },
        quality: Number(quality),
      }));
      const read = parseChoices(header.join(','));
      assert.deepEqual(
        read?.map((one) => ({ ...one, parameters: Object.fromEntries(one.parameters) })),
        wanted,
      );
    }),
    runs(1000),
  );
});

test('a header as long as a server takes it costs no more than its length, whatever it repeats', () => {
  const LENGTH = 16 * 1024;
  for (const piece of [...DICTIONARY, 'a/a;q=0.5,', 'a;a=";', 'a;a="\\"', ';a=a', ',,', ' ;', '"a" ']) {
    const header = piece.repeat(Math.ceil(LENGTH / piece.length));
    const startMs = performance.now();
    negotiateFormat(header);
    negotiateFormat(`text/plain${header}`);
    acceptsGzip(header);
    assert.ok(performance.now() - startMs < 1000, `${JSON.stringify(piece)} took too long`);
  }
});
