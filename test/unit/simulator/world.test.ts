import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Freeze } from '../../../src/simulator/freeze.ts';
import { createWorld, type World } from '../../../src/simulator/world.ts';
import { readFixture } from '../../support/fixtures.ts';
import { validateListing } from '../../support/listing-oracle.ts';
import { createRunParameters } from '../../support/run-parameters.ts';

const startedAtMs = Date.UTC(2026, 0, 1);
const hourMs = 3_600_000;
const code = 'TESTING';
const seeds = fc.integer({ min: 0, max: 2 ** 31 });
/** Up to a day after the start. */
const ages = fc.integer({ min: 0, max: 24 * hourMs });

function createTestWorld(seed: number, users = 200, tasks = 40): World {
  return createWorld({ seed, startedAtMs, users, tasks });
}

function createListingAt(world: World, timeMs: number, freezes: readonly Freeze[] = []) {
  return {
    ret: 0,
    user_list: [...world.users(code, timeMs)],
    task_list: [...world.tasks(code, timeMs, freezes)],
  };
}

test('the listing is a function of seed and time, independent of earlier calls', () => {
  fc.assert(
    fc.property(seeds, ages, ages, (seed, age, other) => {
      const world = createTestWorld(seed);
      const before = createListingAt(world, startedAtMs + age);
      createListingAt(world, startedAtMs + other);
      assert.deepEqual(createListingAt(world, startedAtMs + age), before);
      assert.deepEqual(createListingAt(createTestWorld(seed), startedAtMs + age), before);
    }),
    createRunParameters(20),
  );
});

test('another seed or another service code gives another listing', () => {
  const [one] = createTestWorld(1).tasks(code, startedAtMs);
  const [otherSeed] = createTestWorld(2).tasks(code, startedAtMs);
  const [otherCode] = createTestWorld(1).tasks('OTHER', startedAtMs);
  assert.notEqual(one?.id, otherSeed?.id);
  assert.notEqual(one?.id, otherCode?.id);
});

test('every listing is valid, before the start and after it', () => {
  fc.assert(
    fc.property(seeds, fc.integer({ min: -24 * hourMs, max: 24 * hourMs }), (seed, age) => {
      const { user_list: users, task_list: tasks } = createListingAt(
        createTestWorld(seed),
        startedAtMs + age,
      );
      const { invalidRecords, invalidFields } = validateListing(users, tasks, code).totals;
      assert.deepEqual([invalidRecords, invalidFields], [[], []]);
    }),
    createRunParameters(20),
  );
});

/** Lists the paths of all fields of a value with their types; the elements of an array share one path. */
function listFields(value: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((element) => listFields(element, `${path}[]`)))];
  if (typeof value !== 'object' || value === null) return [`${path}: ${typeof value}`];
  return Object.entries(value).flatMap(([name, field]) => listFields(field, `${path}.${name}`));
}

test('the fields and their types are those of the published sample', () => {
  const sample: unknown = JSON.parse(readFixture('sample-listing.json').toString());
  assert.deepEqual(
    listFields(createListingAt(createTestWorld(1), startedAtMs)).toSorted(),
    listFields(sample).toSorted(),
  );
});

test('the numbers of users and tasks stay around their mean, and change', () => {
  const world = createTestWorld(1, 1000, 200);
  const counts = Array.from({ length: 24 }, (_, hour) => {
    const listing = createListingAt(world, startedAtMs + hour * hourMs);
    return [listing.user_list.length, listing.task_list.length] as const;
  });
  for (const [users, tasks] of counts) {
    assert.ok(Math.abs(users - 1000) < 100, `${users} users`);
    assert.ok(Math.abs(tasks - 200) < 40, `${tasks} tasks`);
  }
  assert.ok(new Set(counts.map(([users]) => users)).size > 10);
  assert.ok(new Set(counts.map(([, tasks]) => tasks)).size > 5);
});

test('a listing contains every format, protocol and kind of task of the interface', () => {
  const { task_list: tasks } = createListingAt(createTestWorld(1, 0, 500), startedAtMs);
  const outputs = tasks.flatMap((task) => task.outputs);
  const files = tasks.filter((task) => task.progress > 0);
  const inputs = tasks.flatMap((task) => task.inputs);
  assert.deepEqual(new Set(outputs.map((output) => output.format)), new Set(['flv', 'm3u8', 'rtmp']));
  assert.deepEqual(
    new Set(inputs.map((input) => input.url.split('//', 1)[0])),
    new Set(['', 'http:', 'rtmp:', 'rtsp:']),
  );
  assert.deepEqual(new Set(tasks.map((task) => task.inputs.length)), new Set([1, 2, 3, 4]));
  assert.deepEqual(
    new Set(outputs.flatMap((output) => output.streams.map((stream) => stream.copy))),
    new Set([0, 1]),
  );
  assert.ok(outputs.some((output) => output.format === 'flv' && output.http_connections_num > 0));
  assert.ok(outputs.some((output) => output.format === 'flv' && output.http_connections_num === 0));
  assert.ok(files.length > 25 && files.length < 100, `${files.length} file tasks of ${tasks.length}`);
});

test('HLS outputs have no bytes and no connections', () => {
  for (const task of createTestWorld(1, 0, 500).tasks(code, startedAtMs)) {
    for (const output of task.outputs.filter(({ format }) => format === 'm3u8')) {
      assert.deepEqual([output.http_output_bytes, output.http_connections_num], [0, 0]);
    }
  }
});

/** All byte counters and the progress of a listing, by task and output. */
function readCounters(world: World, timeMs: number): Map<string, number> {
  const counters = new Map<string, number>();
  for (const task of world.tasks(code, timeMs)) {
    counters.set(task.id, task.input_bytes);
    counters.set(`${task.id} progress`, task.progress);
    for (const output of task.outputs)
      counters.set(`${task.id} ${output.file_name}`, output.http_output_bytes);
  }
  return counters;
}

test('bytes and progress of a task never decrease', () => {
  fc.assert(
    fc.property(seeds, ages, fc.integer({ min: 1, max: 600_000 }), (seed, age, later) => {
      const world = createTestWorld(seed);
      const before = readCounters(world, startedAtMs + age);
      for (const [key, value] of readCounters(world, startedAtMs + age + later)) {
        assert.ok(value >= (before.get(key) ?? 0), key);
      }
    }),
    createRunParameters(50),
  );
});

test('bytes pushed in two adjacent intervals add up, with and without a freeze', () => {
  fc.assert(
    fc.property(seeds, ages, fc.nat(hourMs), fc.nat(hourMs), (seed, age, first, second) => {
      const world = createTestWorld(seed, 0, 10);
      const a = startedAtMs + age;
      const b = a + first;
      const c = b + second;
      const freezes = [{ fromMs: a + Math.floor(first / 2), toMs: b + Math.floor(second / 2) }];
      for (const kind of ['input', 'httpOutput'] as const) {
        const pushed = (from: number, to: number, frozen: readonly Freeze[]) =>
          world.bytesPushed(code, from, to, frozen)[kind];
        assert.equal(pushed(a, b, []) + pushed(b, c, []), pushed(a, c, []));
        assert.equal(pushed(a, b, freezes) + pushed(b, c, freezes), pushed(a, c, freezes));
      }
    }),
    createRunParameters(20),
  );
});

test('a freeze of all tasks pushes no bytes, and ends without a jump', () => {
  const world = createTestWorld(1, 0, 30);
  const [fromMs, toMs] = [startedAtMs + 60_000, startedAtMs + 120_000];
  const freezes = [{ fromMs, toMs }];
  assert.deepEqual(world.bytesPushed(code, fromMs, toMs, freezes), { input: 0, httpOutput: 0 });
  const before = new Map([...world.tasks(code, fromMs, freezes)].map((task) => [task.id, task.input_bytes]));
  const after = [...world.tasks(code, toMs + 1, freezes)].filter((task) => before.has(task.id));
  assert.ok(after.length > 20);
  for (const task of after) {
    const gained = task.input_bytes - (before.get(task.id) ?? 0);
    assert.ok(gained > 0 && gained < 1000, `${gained} bytes in 1 ms`);
  }
});

test('a service code can have its own size', () => {
  const sizes = new Map([['EMPTY', { users: 0, tasks: 0 }]]);
  const world = createWorld({ seed: 1, startedAtMs, users: 10, tasks: 10, sizes });
  assert.deepEqual([...world.users('EMPTY', startedAtMs), ...world.tasks('EMPTY', startedAtMs)], []);
  assert.ok([...world.users(code, startedAtMs)].length > 0);
});

test('a stream is always one live task of its name, which can be frozen by it', () => {
  const world = createWorld({ seed: 1, startedAtMs, users: 0, tasks: 40, streams: ['main', 'backup'] });
  const findMain = (timeMs: number, freezes: readonly Freeze[] = []) =>
    [...world.tasks(code, timeMs, freezes)].filter(({ opaque }) => opaque.includes('%22main%22'));
  const [before, ...others] = findMain(startedAtMs);
  assert.deepEqual(others, []);
  const later = startedAtMs + 24 * hourMs;
  const freeze = { name: 'main', fromMs: startedAtMs, toMs: Infinity };
  assert.deepEqual(
    findMain(later, [freeze]).map(({ id, input_bytes }) => ({ id, input_bytes })),
    [{ id: before?.id, input_bytes: before?.input_bytes }],
  );
  assert.ok((findMain(later)[0]?.input_bytes ?? 0) > (before?.input_bytes ?? 0));
  assert.equal(before?.progress, 0);
});
