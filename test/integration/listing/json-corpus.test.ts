import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { ReadError } from '../../../src/json-columns/read-error.ts';
import { isJson } from '../../support/response-oracle.ts';
import { readInChunks } from '../../support/read-listing.ts';
import { readFixture } from '../../support/fixtures.ts';

const corpus = z
  .record(z.string(), z.array(z.string()))
  .parse(JSON.parse(readFixture('json-corpus.json').toString()));

/** Invalid UTF-8, which decoders replace by U+FFFD. */
const INVALID_UTF8 = [
  [0xff],
  [0xc3],
  [0xe2, 0x82],
  [0xed, 0xa0, 0x80],
  [0xf0, 0x9f, 0x98],
  [0x80],
  [0xc0, 0xaf],
  [0xc1, 0xbf],
  [0xe0, 0x80, 0xaf],
  [0xed, 0xbf, 0xbf],
  [0xf4, 0x90, 0x80, 0x80],
  [0xfe],
];

/** Places of a listing where the reader skips a value of any type. */
const CONTEXTS = {
  'as a member of the answer': ['{"ret":0,"user_list":[],"task_list":[],"x":', '}'],
  'as a member of a user': ['{"ret":0,"task_list":[],"user_list":[{"vs_id":"a","x":', '},{}]}'],
  'as an element of a list': ['{"ret":0,"user_list":[{},', '],"task_list":[]}'],
  'as a field of a task': ['{"ret":0,"user_list":[],"task_list":[{"id":"t","outputs":[],"inputs":', '}]}'],
  'as the whole body': ['', ''],
} as const;

/** Returns the code and message of the error, or `read`. */
function readOutcome(body: Buffer, cuts: readonly number[]): string {
  try {
    readInChunks(body, cuts);
    return 'read';
  } catch (error) {
    if (!(error instanceof ReadError)) throw error;
    return `${error.code} ${error.message}`;
  }
}

function assertMatchesJsonParse(value: Buffer): void {
  for (const [context, [before, after]] of Object.entries(CONTEXTS)) {
    const body = Buffer.concat([Buffer.from(before), value, Buffer.from(after)]);
    const whole = readOutcome(body, []);
    const description = `${JSON.stringify(value.toString())} ${context}: ${whole}`;
    assert.equal(!whole.startsWith('not_json'), isJson(body.toString()), description);
    for (let cut = 1; cut < body.length; cut += 1)
      assert.equal(readOutcome(body, [cut]), whole, `${description}, cut at ${cut}`);
    assert.equal(readOutcome(body, [...body.keys()]), whole, `${description}, byte by byte`);
  }
}

for (const [category, texts] of Object.entries(corpus)) {
  test(`${category}: the reader and JSON.parse agree, whole and cut at every byte`, () => {
    for (const text of texts) assertMatchesJsonParse(Buffer.from(text));
  });
}

test('encodings: UTF-16 and UTF-32 are rejected', () => {
  for (const text of ['[1]', '"a"', '\ufeff[1]']) {
    const utf16 = Buffer.from(text, 'utf16le');
    assertMatchesJsonParse(utf16);
    assertMatchesJsonParse(Buffer.from(utf16).swap16());
    const units = [...text].flatMap((character) => [character.charCodeAt(0) & 0xff, 0, 0, 0]);
    assertMatchesJsonParse(Buffer.from(units));
  }
});

test('encodings: invalid UTF-8 is replaced in a string and rejected outside', () => {
  for (const bytes of INVALID_UTF8) {
    const invalid = Buffer.from(bytes);
    assertMatchesJsonParse(Buffer.concat([Buffer.from('"a'), invalid, Buffer.from('b"')]));
    assertMatchesJsonParse(Buffer.concat([Buffer.from('"'), invalid, Buffer.from('"')]));
    assertMatchesJsonParse(invalid);
    assertMatchesJsonParse(Buffer.concat([Buffer.from('[1'), invalid, Buffer.from(']')]));
  }
});
