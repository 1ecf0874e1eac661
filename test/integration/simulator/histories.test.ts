import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWorld, type World } from '../../../src/simulator/world.ts';

/* Properties that need hours of simulated time. */

const startedAtMs = Date.UTC(2026, 0, 1);
const hourMs = 3_600_000;
const code = 'TESTING';

function createTestWorld(seed: number, tasks: number): World {
  return createWorld({ seed, startedAtMs, users: 0, tasks });
}

function sum(values: Iterable<number>): number {
  return [...values].reduce((total, value) => total + value, 0);
}

test('a task id is unique in the history of its service code', () => {
  const world = createTestWorld(1, 100);
  const births = new Map<string, string>();
  for (let age = 0; age < 24 * hourMs; age += 120_000) {
    for (const task of world.tasks(code, startedAtMs + age)) {
      const born = `${task.serial}/${task.outputs[0]?.relative_dir ?? ''}`;
      assert.equal(births.get(task.id) ?? born, born);
      births.set(task.id, born);
    }
  }
  assert.ok(births.size > 1000, `${births.size} tasks`);
});

test('bytes pushed in an interval match listings read every 250 ms', () => {
  const world = createTestWorld(5, 30);
  const fromMs = startedAtMs + hourMs;
  const toMs = fromMs + hourMs / 3;
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
  // The listings miss up to the last 250 ms of each task, so their sum is slightly lower.
  const input = world.inputBytesPushed(code, fromMs, toMs);
  const output = world.httpOutputBytesPushed(code, fromMs, toMs);
  assertSlightlyBelow(sum(last.input.values()) - baseline.input, input);
  assertSlightlyBelow(sum(last.output.values()) - baseline.output, output);
});

function assertSlightlyBelow(actual: number, limit: number): void {
  assert.ok(actual <= limit && actual > limit * 0.999, `${actual} against ${limit}`);
}
