import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TaskNameFinder } from '../../../src/diagnostics/task-names.ts';

/** Finds the names in a body that arrives in two chunks; by source, the names of its tasks. */
function findNames(body: string): Record<string, readonly (string | undefined)[]> | undefined {
  const finder = new TaskNameFinder();
  const bytes = Buffer.from(body);
  finder.addChunk(bytes.subarray(0, 9));
  finder.addChunk(bytes.subarray(9));
  const found = finder.find();
  return found && Object.fromEntries(found.map(({ source, names }) => [source, names]));
}

const listTasks = (...tasks: readonly unknown[]) =>
  JSON.stringify({ ret: 0, user_list: [], task_list: tasks });

test('each source gives the first name of a task, or none', () => {
  const main = {
    id: '1',
    opaque: '{"room":"main"}',
    inputs: [{ user_name: '' }, { user_name: 'anna' }],
    outputs: [7, { file_name: 7, relative_dir: 'a/' }, { file_name: 'b.flv' }],
  };
  assert.deepEqual(findNames(listTasks(main, { id: '2', opaque: 'room=b%20c&id=2', inputs: 7 })), {
    opaque: ['{"room":"main"}', 'room=b c&id=2'],
    'opaque.room': ['main', 'b c'],
    'opaque.id': [undefined, '2'],
    'output.file_name': ['b.flv', undefined],
    'output.relative_dir': ['a/', undefined],
    'input.user_name': ['anna', undefined],
  });
});

test('five tasks and ten keys are shown', () => {
  const keys = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`key-${index}`, 1]));
  const opaque = JSON.stringify(keys)
    .slice(0, 60_000)
    .replace(/,[^,]*$/, '}');
  const found = findNames(listTasks(...Array.from({ length: 9 }, (_, id) => ({ id: String(id), opaque }))));
  assert.equal(Object.keys(found ?? {}).length, 14);
  assert.equal(found?.['opaque.key-9']?.length, 5);
  assert.equal(found?.['opaque']?.[0], undefined);
});

test('a listing of more than 16 MiB, or with invalid JSON in fields that are skipped, has no names', () => {
  assert.equal(findNames(listTasks({ id: 'x'.repeat(2 ** 24) })), undefined);
  assert.equal(findNames('{"ret":0,"other":01,"task_list":[]}'), undefined);
});
