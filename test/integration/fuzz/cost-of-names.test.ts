import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import type { TaskNameSource } from '../../../src/listing/task-name.ts';
import { MAX_COST_RATIO, measureCostRatio } from '../../support/cost-ratio.ts';
import { readFixture } from '../../support/fixtures.ts';
import { readInChunks } from '../../support/read-listing.ts';
import { createRunParameters } from '../../support/run-parameters.ts';

/** Bytes of a listing that are read at a time. */
const PIECE_BYTES = 64 * 1024;

const sampleSchema = z.object({
  task_list: z.tuple([z.looseObject({ outputs: z.array(z.looseObject({})) })]),
});
/** A task as the service sends it. */
const [TASK] = sampleSchema.parse(JSON.parse(readFixture('sample-listing.json').toString())).task_list;

/** The fields of a task with a text that a viewer's terminal has sent, by source. */
const FIELDS = {
  opaque: (text: string) => ({ opaque: text }),
  'opaque.k': (text: string) => ({ opaque: text }),
  'output.file_name': (text: string) => ({ outputs: [{ ...TASK.outputs[0], file_name: text }] }),
  'output.relative_dir': (text: string) => ({ outputs: [{ ...TASK.outputs[0], relative_dir: text }] }),
  'input.user_name': (text: string) => ({ inputs: [{ user_name: text }] }),
} as const satisfies Partial<Record<TaskNameSource, (text: string) => object>>;

type Source = keyof typeof FIELDS;
const SOURCES: readonly Source[] = [
  'opaque',
  'opaque.k',
  'output.file_name',
  'output.relative_dir',
  'input.user_name',
];

/** A listing of as many tasks with this text as fit a piece. */
function buildBody(source: Source, text: string): Buffer {
  const task = (index: number): object => ({ ...TASK, ...FIELDS[source](text), id: String(index) });
  const count = Math.max(1, Math.floor(PIECE_BYTES / countBytes(task(1000))));
  const tasks = Array.from({ length: count }, (_, index) => task(1000 + index));
  return Buffer.from(JSON.stringify({ ret: 0, user_list: [], task_list: tasks }));
}

const countBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const repeatTo = (length: number, piece: string): string =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

/**
 * A query string, or a name that macOS has decomposed, of the same size in a listing; as usual, not all is
 * ASCII.
 */
function createOrdinaryText(source: Source, text: string): string {
  const ordinary = source.startsWith('opaque') ? 'room=Caf\u00e9&user=anna&lang=en&' : '\u1112\u1161\u11ab';
  const bytes = countBytes(text) - 2;
  return repeatTo(Math.ceil((bytes * ordinary.length) / Buffer.byteLength(ordinary)), ordinary);
}

const measure = (source: Source, text: string): Promise<number> => {
  const [hostile, ordinary] = [text, createOrdinaryText(source, text)].map((one) => buildBody(source, one));
  const read = (body: Buffer = Buffer.alloc(0)) => readInChunks(body, [], undefined, { taskName: source });
  return measureCostRatio(
    () => read(hostile),
    () => read(ordinary),
  );
};

const PIECES = [
  ['a', 'k', ' ', '\u00a0', '\u200b', '\u0000', '\ud800', '\ufffd', '\u{1f600}', '+', '?', '\\', '"', "'"],
  [
    '%',
    '%6',
    '%61',
    '%ff',
    '%c3%a9',
    '%cc%81',
    '%7b',
    '%7B%22',
    '&',
    '=',
    '%&',
    '%=&',
    '%ff&',
    '%ff=&',
    'a=&',
  ],
  [
    '\u0301',
    '\u0316',
    '\u0301\u0316',
    '\u0344',
    '\u0f73',
    '\u1112\u1161\u11ab',
    '\u00e9',
    '\u1e9b\u0323',
    'a\u0301',
  ],
  ['{', '[', '}', ']', ':', ',', '{"a":', '"k":1,', '{"k":"', '"k\u0301":1,', '{}', '0', '-', 'e'],
].flat();

/** Repeated pieces, up to a length. */
const arbitraryText = fc
  .tuple(
    fc.constantFrom(1, 30, 128, 512, 4096, PIECE_BYTES),
    fc.array(fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom(1, 2, 30, 31, 511, PIECE_BYTES)), {
      minLength: 1,
      maxLength: 6,
    }),
    fc.boolean(),
  )
  .map(([length, parts, isRepeated]) => {
    const text = parts.map(([piece, count]) => piece.repeat(Math.min(count, length))).join('');
    return (isRepeated ? repeatTo(length, text) : text).slice(0, length);
  });

const marks = (count: number): string => `a${'\u0301'.repeat(count / 2 - 1)}${'\u0316'.repeat(count / 2)}`;

/** Texts that once took seconds, or that come closest to the limit. */
const KNOWN = [
  marks(PIECE_BYTES),
  marks(30).repeat(17),
  `k=${marks(30).repeat(17)}`,
  `{"k":"${marks(30).repeat(17)}"}`,
  `${marks(30).repeat(17)}=&`.repeat(64),
  '\u1112\u1161\u11ab'.repeat(170),
  `${marks(254)}=&`.repeat(256),
  `{"${marks(510)}":1}`,
  `=${'%&'.repeat(PIECE_BYTES / 2 - 1)}`,
  '%ff=&'.repeat(PIECE_BYTES / 5),
  '%ffa'.repeat(PIECE_BYTES / 4),
  '=&'.repeat(PIECE_BYTES / 2),
  'a=&'.repeat(PIECE_BYTES / 3),
  '\u200b'.repeat(PIECE_BYTES),
  '{'.repeat(PIECE_BYTES),
  '{"a":'.repeat(PIECE_BYTES / 5),
  `{"a":${'['.repeat(PIECE_BYTES)}`,
  `{${'"k":1,'.repeat(PIECE_BYTES / 6)}`,
  `{${Array.from({ length: 5000 }, (_, index) => `"k${index}":1`).join(',')}}`,
  '{',
  '{}',
  '{%',
  '%ff',
  '{"k":1',
  '%7B',
];

for (const source of SOURCES) {
  test(`whatever text ${source} has, reading it costs at most ${MAX_COST_RATIO} times an ordinary one of its size`, async (t) => {
    let largest = { ratio: 0, text: '' };
    const check = async (text: string): Promise<void> => {
      const ratio = await measure(source, text);
      if (ratio > largest.ratio) largest = { ratio, text };
      assert.ok(ratio <= MAX_COST_RATIO, `${ratio.toFixed(1)} times: ${JSON.stringify(text).slice(0, 200)}`);
    };
    for (const text of KNOWN) await check(text);
    await fc.assert(fc.asyncProperty(arbitraryText, check), createRunParameters(60));
    t.diagnostic(`at most ${largest.ratio.toFixed(1)} times: ${JSON.stringify(largest.text).slice(0, 40)}`);
  });
}
