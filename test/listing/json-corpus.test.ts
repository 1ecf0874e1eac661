import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { ListingError } from '../../src/listing/errors.ts';
import { readCut } from '../support/collecting-sink.ts';
import { fixture } from '../support/fixtures.ts';

const corpus = z
  .record(z.string(), z.array(z.string()))
  .parse(JSON.parse(fixture('json-corpus.json').toString()));

/** Bytes that no string of JavaScript holds: broken UTF-8, which decoders replace. */
const BROKEN_UTF8 = [
  [0xff],
  [0xc3],
  [0xe2, 0x82],
  [0xed, 0xa0, 0x80],
  [0xf0, 0x9f, 0x98],
  [0x80],
  [0xc0, 0xaf],
];

/** The places of a listing where a value of any kind may stand, and is skipped. */
const PLACES = {
  'as a member of the answer': ['{"ret":0,"user_list":[],"task_list":[],"x":', '}'],
  'as a member of a user': ['{"ret":0,"task_list":[],"user_list":[{"vs_id":"a","x":', '},{}]}'],
  'as an element of a list': ['{"ret":0,"user_list":[{},', '],"task_list":[]}'],
  'as a field of a task': ['{"ret":0,"user_list":[],"task_list":[{"id":"t","outputs":[],"inputs":', '}]}'],
  'as the whole body': ['', ''],
} as const;

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString());
    return true;
  } catch {
    return false;
  }
}

/** What reading comes to: the code of the error and its byte, or that there is none. */
function outcome(body: Buffer, cuts: readonly number[]): string {
  try {
    readCut(body, cuts);
    return 'read';
  } catch (error) {
    if (!(error instanceof ListingError)) throw error;
    return `${error.code} ${error.message}`;
  }
}

function checkEverywhere(value: Buffer): void {
  for (const [place, [before, behind]] of Object.entries(PLACES)) {
    const body = Buffer.concat([Buffer.from(before), value, Buffer.from(behind)]);
    const whole = outcome(body, []);
    const about = `${JSON.stringify(value.toString())} ${place}: ${whole}`;
    assert.equal(!whole.startsWith('not_json'), isJson(body), about);
    for (let cut = 1; cut < body.length; cut += 1)
      assert.equal(outcome(body, [cut]), whole, `${about}, cut at ${cut}`);
    assert.equal(outcome(body, [...body.keys()]), whole, `${about}, byte by byte`);
  }
}

for (const [category, texts] of Object.entries(corpus)) {
  test(`${category}: the reader refuses what JSON.parse refuses, whole and cut at every byte`, () => {
    for (const text of texts) checkEverywhere(Buffer.from(text));
  });
}

test('encodings: broken UTF-8 within a string is replaced, outside of one refused', () => {
  for (const bytes of BROKEN_UTF8) {
    const broken = Buffer.from(bytes);
    checkEverywhere(Buffer.concat([Buffer.from('"a'), broken, Buffer.from('b"')]));
    checkEverywhere(Buffer.concat([Buffer.from('"'), broken, Buffer.from('"')]));
    checkEverywhere(broken);
    checkEverywhere(Buffer.concat([Buffer.from('[1'), broken, Buffer.from(']')]));
  }
});
