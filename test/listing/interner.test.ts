import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Interner } from '../../src/listing/interner.ts';
import { Scanner } from '../../src/listing/scanner.ts';
import { WINDOW_PADDING } from '../../src/listing/swar.ts';

function createScanner(json: string): Scanner {
  const bytes = new TextEncoder().encode(json);
  const window = new Uint8Array(bytes.length + WINDOW_PADDING);
  window.set(bytes);
  const scanner = new Scanner();
  scanner.load(window, bytes.length, 0);
  return scanner;
}

function intern(interner: Interner, text: string): string {
  return interner.read(createScanner(JSON.stringify(text)));
}

test('random strings are returned unchanged', () => {
  const text = fc.oneof(fc.string({ maxLength: 6 }), fc.string({ unit: 'grapheme', maxLength: 80 }));
  fc.assert(
    fc.property(fc.array(text, { maxLength: 60 }), (texts) => {
      const interner = new Interner();
      for (const each of [...texts, ...texts]) assert.equal(intern(interner, each), each);
    }),
  );
});

test('strings that differ in one byte or only in length are distinct', () => {
  const interner = new Interner();
  const texts = Array.from({ length: 70 }, (_, length) => 'x'.repeat(length));
  for (const text of texts) assert.equal(intern(interner, text), text);
  for (const text of texts.slice(1)) assert.equal(intern(interner, `${text.slice(1)}y`), `${text.slice(1)}y`);
});

test('evicted strings are returned unchanged', () => {
  const interner = new Interner();
  for (let round = 0; round < 2; round += 1) {
    for (let n = 0; n < 20_000; n += 1) assert.equal(intern(interner, `value-${n}`), `value-${n}`);
  }
});
