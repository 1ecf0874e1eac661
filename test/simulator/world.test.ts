import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { listingSchema } from '../../src/listing/interface.ts';
import type { Freeze } from '../../src/simulator/freeze.ts';
import { createWorld, type World } from '../../src/simulator/world.ts';
import { fixture } from '../support/fixtures.ts';

const startedAtMs = Date.UTC(2026, 0, 1);
const hourMs = 3_600_000;
const code = 'TESTING';
const seeds = fc.integer({ min: 0, max: 2 ** 31 });
/** Up to a day after the start; the service may have been started long ago. */
const ages = fc.integer({ min: 0, max: 24 * hourMs });

function worldOf(seed: number, users = 200, tasks = 40): World {
  return createWorld({ seed, startedAtMs, users, tasks });
}

function listingAt(world: World, timeMs: number, freezes: readonly Freeze[] = []) {
  return {
    ret: 0,
    user_list: [...world.users(code, timeMs)],
    task_list: [...world.tasks(code, timeMs, freezes)],
  };
}

test('one seed and moment give one listing, whenever and by whomever it is asked for', () => {
  fc.assert(
    fc.property(seeds, ages, ages, (seed, age, other) => {
      const world = worldOf(seed);
      const before = listingAt(world, startedAtMs + age);
      listingAt(world, startedAtMs + other);
      assert.deepEqual(listingAt(world, startedAtMs + age), before);
      assert.deepEqual(listingAt(worldOf(seed), startedAtMs + age), before);
    }),
    { numRuns: 20 },
  );
});

test('another seed or another service code gives another listing', () => {
  const [one] = worldOf(1).tasks(code, startedAtMs);
  const [otherSeed] = worldOf(2).tasks(code, startedAtMs);
  const [otherCode] = worldOf(1).tasks('OTHER', startedAtMs);
  assert.notEqual(one?.id, otherSeed?.id);
  assert.notEqual(one?.id, otherCode?.id);
});

test('every listing is valid, before the start and after it', () => {
  fc.assert(
    fc.property(seeds, fc.integer({ min: -24 * hourMs, max: 24 * hourMs }), (seed, age) => {
      listingSchema.parse(listingAt(worldOf(seed), startedAtMs + age));
    }),
    { numRuns: 20 },
  );
});

/** The paths of all fields of a value, with the types that stand there; elements of an array count as one. */
function fieldsOf(value: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((element) => fieldsOf(element, `${path}[]`)))];
  if (typeof value !== 'object' || value === null) return [`${path}: ${typeof value}`];
  return Object.entries(value).flatMap(([name, field]) => fieldsOf(field, `${path}.${name}`));
}

test('the fields and their types are those of the published sample', () => {
  const sample: unknown = JSON.parse(fixture('sample-listing.json').toString());
  assert.deepEqual(fieldsOf(listingAt(worldOf(1), startedAtMs)).toSorted(), fieldsOf(sample).toSorted());
});

test('the numbers of users and tasks stay around their mean, and change', () => {
  const world = worldOf(1, 1000, 200);
  const counts = Array.from({ length: 24 }, (_, hour) => {
    const listing = listingAt(world, startedAtMs + hour * hourMs);
    return [listing.user_list.length, listing.task_list.length] as const;
  });
  for (const [users, tasks] of counts) {
    assert.ok(Math.abs(users - 1000) < 100, `${users} users`);
    assert.ok(Math.abs(tasks - 200) < 40, `${tasks} tasks`);
  }
  assert.ok(new Set(counts.map(([users]) => users)).size > 10);
  assert.ok(new Set(counts.map(([, tasks]) => tasks)).size > 5);
});

test('no users and no tasks are two empty arrays', () => {
  assert.deepEqual(listingAt(worldOf(1, 0, 0), startedAtMs), { ret: 0, user_list: [], task_list: [] });
});

test('tasks are already under way at the start', () => {
  const { task_list: tasks } = listingAt(worldOf(1), startedAtMs);
  const busy = tasks.filter((task) => task.input_bytes > 10_000_000);
  assert.ok(busy.length > tasks.length / 2, `${busy.length} of ${tasks.length}`);
});

test('a listing has all that the interface knows of', () => {
  const { task_list: tasks } = listingAt(worldOf(1, 0, 500), startedAtMs);
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

test('HLS is not metered', () => {
  for (const task of worldOf(1, 0, 500).tasks(code, startedAtMs)) {
    for (const output of task.outputs.filter(({ format }) => format === 'm3u8')) {
      assert.deepEqual([output.http_output_bytes, output.http_connections_num], [0, 0]);
    }
  }
});

test('a task id occurs once in the history of its service code', () => {
  const world = worldOf(1, 0, 100);
  const births = new Map<string, string>();
  for (let age = 0; age < 48 * hourMs; age += 120_000) {
    for (const task of world.tasks(code, startedAtMs + age)) {
      const born = `${task.serial}/${task.outputs[0]?.relative_dir ?? ''}`;
      assert.equal(births.get(task.id) ?? born, born);
      births.set(task.id, born);
    }
  }
  assert.ok(births.size > 1000, `${births.size} tasks`);
});

/** All byte counters and the progress of a listing, by task and output. */
function countersOf(world: World, timeMs: number): Map<string, number> {
  const counters = new Map<string, number>();
  for (const task of world.tasks(code, timeMs)) {
    counters.set(task.id, task.input_bytes);
    counters.set(`${task.id} progress`, task.progress);
    for (const output of task.outputs)
      counters.set(`${task.id} ${output.file_name}`, output.http_output_bytes);
  }
  return counters;
}

test('bytes and progress of a task never fall', () => {
  fc.assert(
    fc.property(seeds, ages, fc.integer({ min: 1, max: 600_000 }), (seed, age, later) => {
      const world = worldOf(seed);
      const before = countersOf(world, startedAtMs + age);
      for (const [key, value] of countersOf(world, startedAtMs + age + later)) {
        assert.ok(value >= (before.get(key) ?? 0), key);
      }
    }),
    { numRuns: 50 },
  );
});

test('a file task gets from 0 to 100', () => {
  const world = worldOf(3, 0, 20);
  const seen = new Map<string, number[]>();
  for (let age = 0; age < 12 * hourMs; age += 5_000) {
    for (const task of world.tasks(code, startedAtMs + age)) {
      seen.set(task.id, [...(seen.get(task.id) ?? []).slice(0, 1), task.progress]);
    }
  }
  const whole = [...seen.values()].filter(([first, last]) => first === 0 && last === 100);
  assert.ok(whole.length > 5, `${whole.length} seen from 0 to 100`);
});

test('what an interval pushed is what a close watch of the listings adds up to', () => {
  const world = worldOf(5, 0, 30);
  const fromMs = startedAtMs + hourMs;
  const toMs = fromMs + hourMs;
  const last = { input: new Map<string, number>(), output: new Map<string, number>() };
  const baseline = { input: 0, output: 0 };
  for (let timeMs = fromMs; timeMs <= toMs; timeMs += 250) {
    for (const task of world.tasks(code, timeMs)) {
      last.input.set(task.id, task.input_bytes);
      last.output.set(
        task.id,
        task.outputs.reduce((total, output) => total + output.http_output_bytes, 0),
      );
    }
    if (timeMs === fromMs) {
      baseline.input = sum(last.input.values());
      baseline.output = sum(last.output.values());
    }
  }
  // Of each task's last moments, up to 250 ms may have gone unseen: never too much, and hardly too little.
  const input = world.inputBytesPushed(code, fromMs, toMs);
  const output = world.httpOutputBytesPushed(code, fromMs, toMs);
  assertSlightlyBelow(sum(last.input.values()) - baseline.input, input);
  assertSlightlyBelow(sum(last.output.values()) - baseline.output, output);
});

function sum(values: Iterable<number>): number {
  return [...values].reduce((total, value) => total + value, 0);
}

function assertSlightlyBelow(actual: number, limit: number): void {
  assert.ok(actual <= limit && actual > limit * 0.999, `${actual} against ${limit}`);
}

test('what is pushed adds up, interval by interval, frozen or not', () => {
  fc.assert(
    fc.property(seeds, ages, fc.nat(hourMs), fc.nat(hourMs), (seed, age, first, second) => {
      const world = worldOf(seed, 0, 10);
      const a = startedAtMs + age;
      const b = a + first;
      const c = b + second;
      const freezes = [{ fromMs: a + Math.floor(first / 2), toMs: b + Math.floor(second / 2) }];
      for (const kind of ['inputBytesPushed', 'httpOutputBytesPushed'] as const) {
        const pushed = (from: number, to: number, frozen: readonly Freeze[]) =>
          world[kind](code, from, to, frozen);
        assert.equal(pushed(a, b, []) + pushed(b, c, []), pushed(a, c, []));
        assert.equal(pushed(a, b, freezes) + pushed(b, c, freezes), pushed(a, c, freezes));
      }
    }),
    { numRuns: 20 },
  );
});

test('while all is frozen nothing is pushed, and afterwards it goes on without a jump', () => {
  const world = worldOf(1, 0, 30);
  const [fromMs, toMs] = [startedAtMs + 60_000, startedAtMs + 120_000];
  const freezes = [{ fromMs, toMs }];
  assert.equal(world.inputBytesPushed(code, fromMs, toMs, freezes), 0);
  assert.equal(world.httpOutputBytesPushed(code, fromMs, toMs, freezes), 0);
  const before = new Map([...world.tasks(code, fromMs, freezes)].map((task) => [task.id, task.input_bytes]));
  const after = [...world.tasks(code, toMs + 1, freezes)].filter((task) => before.has(task.id));
  assert.ok(after.length > 20);
  for (const task of after) {
    const gained = task.input_bytes - (before.get(task.id) ?? 0);
    assert.ok(gained > 0 && gained < 1000, `${gained} bytes in 1 ms`);
  }
});

test('a task can be frozen alone', () => {
  const world = worldOf(1, 0, 30);
  const [frozen, other] = world.tasks(code, startedAtMs);
  const freezes = [{ serviceCode: code, taskId: frozen?.id, fromMs: startedAtMs, toMs: Infinity }];
  const later = new Map(
    [...world.tasks(code, startedAtMs + 1000, freezes)].map((task) => [task.id, task.input_bytes]),
  );
  assert.equal(later.get(frozen?.id ?? ''), frozen?.input_bytes);
  assert.ok((later.get(other?.id ?? '') ?? 0) > (other?.input_bytes ?? 0));
});

test('the account is the totals of the listing', () => {
  const world = worldOf(1);
  const { user_list: users, task_list: tasks } = listingAt(world, startedAtMs);
  const account = world.account(code, startedAtMs);
  const countBy = (values: readonly string[]) =>
    Object.fromEntries(
      [...new Set(values)].map((value) => [value, values.filter((other) => other === value).length]),
    );
  assert.deepEqual(
    Object.fromEntries(account.users.map((row) => [`${row.client_version}-${row.device_type}`, row.count])),
    countBy(users.map((user) => `${user.client_version}-${user.device_type}`)),
  );
  assert.deepEqual(account.tasks, countBy(tasks.map((task) => task.vs_id)));
  assert.equal(
    sum(Object.values(account.connections)),
    sum(tasks.flatMap((task) => task.outputs.map((output) => output.http_connections_num))),
  );
  assert.equal(account.connections['m3u8'], 0);
});

test('a service code can have a size of its own', () => {
  const sizes = new Map([['EMPTY', { users: 0, tasks: 0 }]]);
  const world = createWorld({ seed: 1, startedAtMs, users: 10, tasks: 10, sizes });
  assert.deepEqual([...world.users('EMPTY', startedAtMs), ...world.tasks('EMPTY', startedAtMs)], []);
  assert.ok([...world.users(code, startedAtMs)].length > 0);
});
