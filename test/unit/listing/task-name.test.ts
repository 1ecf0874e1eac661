import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  listKeySources,
  parseTaskNameSource,
  readTaskName,
  type TaskNameSource,
} from '../../../src/listing/task-name.ts';
import { readInChunks } from '../../support/read-listing.ts';

/** Source, text of the field, and the name. */
const TABLE: readonly [source: TaskNameSource, text: string, name: string | undefined][] = [
  ['opaque', 'main', 'main'],
  ['opaque', 'a%20b+c', 'a b+c'],
  ['opaque', '100%', '100%'],
  ['opaque', 'Cafe\u0301', 'Caf\u00e9'],
  ['opaque.room', '{"room":"Cafe\u0301"}', 'Caf\u00e9'],
  ['opaque', '\u00a0main%20\u200b ', 'main'],
  ['opaque', '%20\u00a0\u200b', undefined],
  ['opaque', 'x'.repeat(129), undefined],
  // Of 258 UTF-16 units before NFC, as macOS names files.
  ['output.file_name', '\u1112\u1161\u11ab'.repeat(86), '\ud55c'.repeat(86)],
  ['output.file_name', `a${'\u0301'.repeat(30)}`, `\u00e1${'\u0301'.repeat(29)}`],
  ['output.file_name', `a${'\u0301'.repeat(31)}`, undefined],
  ['output.file_name', '\u0301'.repeat(31), undefined],
  ['output.file_name', `a${'\u0301\u200b'.repeat(31)}`, undefined],
  ['output.file_name', '\u1112\u1161'.repeat(257), undefined],
  ['output.file_name', `${' '.repeat(600)}main`, 'main'],
  ['opaque.Caf\u00e9', '{"Cafe\u0301 ":"main"}', 'main'],
  ['opaque.Caf\u00e9', '%20Cafe%CC%81=main', 'main'],
  ['opaque', '', undefined],
  ['opaque.room', '{"room":"main"}', 'main'],
  ['opaque.room', '%7B%22room%22%3A%22main%22%7D', 'main'],
  ['opaque.room', '{"room":7}', '7'],
  ['opaque.room', '{"room":{"id":1}}', undefined],
  ['opaque.room', '["room"]', undefined],
  ['opaque.toString', '{}', undefined],
  ['opaque.room', '?user=1&room=a%20b+c', 'a b+c'],
  ['opaque.room', 'room=a=b', 'a=b'],
  ['opaque.room', 'room=a%20b&x=50%', 'a b'],
  ['opaque.room', 'x=%ff&room=a%ff', 'a%ff'],
  ['opaque.50%', '50%=main', 'main'],
  ['opaque.room', '%72oom=main', 'main'],
  ['opaque.room', '{%22room%22:7}', '7'],
  ['opaque.room', 'room%3Dmain', 'main'],
  ['opaque.room', 'no JSON and no query string', undefined],
  ['output.file_name', 'a%20b', 'a%20b'],
];

for (const [source, text, name] of TABLE) {
  test(`${source} of ${JSON.stringify(text)} is ${name ?? 'no name'}`, () =>
    assert.equal(readTaskName(source, text), name));
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

test('a text is decoded as decodeURIComponent does, or kept as it is', () => {
  const piece = fc.oneof(
    fc.constantFrom('a', '%', '%4', '%zz', '%ff', '%ED%A0%80', '\u00e9'),
    fc.nat(0x10ffff).map((codePoint) => encodeURIComponent(String.fromCodePoint(codePoint).toWellFormed())),
    fc.nat(255).map((byte) => `%${byte.toString(16).padStart(2, '0')}`),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = `a${pieces.join('')}`;
      assert.equal(readTaskName('opaque', text), readTaskName('output.file_name', decode(text)));
    }),
    { numRuns: 2000 },
  );
});

for (const [text, sources] of [
  ['{"room":"main","id":{},"bad\\u0000":1}', ['opaque.room', 'opaque.id']],
  ['%7B%22room%22%3A7%7D', ['opaque.room']],
  ['?a=1&b%20c=2', ['opaque.a', 'opaque.b c']],
  ['main', []],
  ['', []],
] as const) {
  test(`the keys of ${JSON.stringify(text)} are ${sources.join(', ') || 'none'}`, () =>
    assert.deepEqual(listKeySources(text), sources));
}

test('a key is compared in NFC, without blanks at its ends', () => {
  assert.equal(parseTaskNameSource('opaque.\u00a0Cafe\u0301 '), 'opaque.Caf\u00e9');
  assert.equal(parseTaskNameSource('opaque. '), undefined);
});

const readNames = (taskName: TaskNameSource, tasks: readonly object[]) => {
  const body = Buffer.from(JSON.stringify({ ret: 0, user_list: [], task_list: tasks }));
  const listing = readInChunks(body, [7], undefined, { taskName });
  return Array.from(listing.tasks.values(), ({ name }) => name);
};

test('the first output or input with a value names the task', () => {
  const outputs = [{ file_name: '' }, { file_name: 'b' }, { file_name: 'c' }];
  assert.deepEqual(readNames('output.file_name', [{ id: '1', outputs }]), ['b']);
  const inputs = [{}, { user_name: 7 }, { user_name: 'anna' }];
  assert.deepEqual(readNames('input.user_name', [{ id: '1', inputs }]), ['anna']);
});

test('a name is cleaned like a label value, and a long text is none', () => {
  const opaque = '\u202e\u0000ma\u200bin\ud800';
  const tasks = [
    { id: '1', opaque },
    { id: '2', opaque: opaque.padEnd(1_000_000, 'x') },
  ];
  assert.deepEqual(readNames('opaque', tasks), ['main\ufffd', undefined]);
});

test('a text of 1 MB is searched for keys in its first 64 Ki characters', () => {
  const filler = `&k=${'x'.repeat(1000)}`.repeat(990);
  const opaque = `room=main${filler}&late=1`;
  assert.deepEqual(readNames('opaque.room', [{ id: '1', opaque }]), ['main']);
  assert.deepEqual(readNames('opaque.late', [{ id: '1', opaque }]), [undefined]);
  assert.equal(listKeySources(opaque).length, 67);
  assert.equal(readTaskName('opaque.room', JSON.stringify({ filler, room: 'main' })), undefined);
});

test('a task without the field, or with one of a wrong type, has no name', () => {
  assert.deepEqual(readNames('opaque', [{ id: '1' }, { id: '2', opaque: 7 }]), [undefined, undefined]);
});
