import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { TaskRecord } from '../../src/listing/records.ts';
import type { Snapshot } from '../../src/tally/snapshot.ts';
import { outputRecord, taskRecord } from '../support/task-record.ts';
import { TallyRun, valuesOf } from '../support/tally-run.ts';

/*
 * The model knows the whole history: for each byte counter of the service (a task's input, a task's output)
 * when it was listed and with what value. From that it says what must have been counted, by the sentences of
 * the semantics; it keeps no last values and no tombstones.
 */

/**
 * A listing of the history; `isGood` is false for one that failed after its records were read. After some of them
 * the exporter is started anew with what it has kept, which the model knows nothing of.
 */
interface Step {
  readonly isGood: boolean;
  readonly isRestarted: boolean;
  readonly tasks: readonly TaskRecord[];
}

interface Appearance {
  readonly listing: number;
  readonly value: number;
  readonly labels: string;
}

const MISSES_FORGIVEN = 10;

/** Every appearance in good listings of every counter, by what identifies the counter. */
function appearances(
  listings: readonly (readonly TaskRecord[])[],
  countersOf: (task: TaskRecord) => readonly [key: string, labels: string, value: number][],
): Map<string, Appearance[]> {
  const all = new Map<string, Appearance[]>();
  for (const [listing, tasks] of listings.entries()) {
    for (const task of tasks) {
      for (const [key, labels, value] of countersOf(task)) {
        all.set(key, [...(all.get(key) ?? []), { listing, value, labels }]);
      }
    }
  }
  return all;
}

/** What one appearance adds after the one before it. */
function gain(before: Appearance | undefined, now: Appearance): number {
  if (before === undefined) return now.listing === 0 ? 0 : now.value;
  if (now.listing - before.listing - 1 > MISSES_FORGIVEN) return now.value;
  return now.value >= before.value ? now.value - before.value : now.value;
}

/** Totals by labels after the last listing; a label set that first appeared in it shows 0. */
function modelBytes(history: Map<string, Appearance[]>, last: number): Record<string, number> {
  const totals: Record<string, number> = {};
  const born: Record<string, number> = {};
  for (const counter of history.values()) {
    for (const [index, now] of counter.entries()) {
      totals[now.labels] = (totals[now.labels] ?? 0) + gain(counter[index - 1], now);
      born[now.labels] = Math.min(born[now.labels] ?? last, now.listing);
    }
  }
  for (const [labels, listing] of Object.entries(born)) if (listing === last) totals[labels] = 0;
  return totals;
}

function modelResets(history: Map<string, Appearance[]>): number {
  let resets = 0;
  for (const counter of history.values()) {
    for (const [index, now] of counter.entries()) {
      const before = counter[index - 1];
      if (before === undefined || now.listing - before.listing - 1 > MISSES_FORGIVEN) continue;
      if (now.value < before.value) resets += 1;
    }
  }
  return resets;
}

const sum = (values: Record<string, number>): number => Object.values(values).reduce((a, b) => a + b, 0);

function modelChurn(listings: readonly (readonly TaskRecord[])[]): { started: number; ended: number } {
  let [started, ended] = [0, 0];
  for (const [index, tasks] of listings.entries()) {
    const before = listings[index - 1];
    if (before === undefined) continue;
    started += tasks.filter(({ id }) => !before.some((other) => other.id === id)).length;
    ended += before.filter(({ id }) => !tasks.some((other) => other.id === id)).length;
  }
  return { started, ended };
}

const inputCounters = (task: TaskRecord): [string, string, number][] =>
  task.inputBytes === undefined ? [] : [[task.id, task.vsId ?? 'unknown', task.inputBytes]];

const outputCounters = (task: TaskRecord): [string, string, number][] =>
  task.outputs.map((output) => [
    [task.id, output.format, output.fileName].join('/'),
    `${task.vsId ?? 'unknown'} ${output.format ?? 'unknown'}`,
    output.httpOutputBytes,
  ]);

// Few ids and mostly growing values, so that tasks meet their own past often; now and then a long absence.
const bytes = fc.oneof(
  { weight: 4, arbitrary: fc.nat(1000) },
  { weight: 1, arbitrary: fc.maxSafeInteger().map((n) => Math.abs(n) % 2 ** 40) },
);
const task = fc
  .record({
    id: fc.constantFrom('a', 'b', 'c', 'd'),
    vsId: fc.constantFrom('s1', 's2', undefined),
    inputBytes: bytes,
    outputs: fc.uniqueArray(
      fc.record({
        format: fc.constantFrom('flv', 'rtmp'),
        fileName: fc.constantFrom('x', 'y'),
        httpOutputBytes: bytes,
      }),
      { maxLength: 4, selector: ({ format, fileName }) => `${format}/${fileName}` },
    ),
  })
  .map(({ outputs, ...fields }) => taskRecord({ ...fields, outputs: outputs.map(outputRecord) }));
const step: fc.Arbitrary<Step> = fc.record({
  isGood: fc.boolean(),
  isRestarted: fc.nat(3).map((n) => n === 0),
  tasks: fc.uniqueArray(task, { maxLength: 4, selector: ({ id }) => id }),
});
const emptySteps = fc
  .integer({ min: 1, max: 14 })
  .map((count): Step[] =>
    Array.from({ length: count }, () => ({ isGood: true, isRestarted: false, tasks: [] })),
  );
const history = fc
  .array(fc.oneof({ weight: 8, arbitrary: step.map((one) => [one]) }, { weight: 1, arbitrary: emptySteps }), {
    minLength: 1,
    maxLength: 24,
  })
  .map((parts) => parts.flat());

test('over random histories of tasks, failures and restarts, the counters are what the model says', () => {
  let hadResets = 0;
  let hadRestarts = 0;
  fc.assert(
    fc.property(history, (steps) => {
      const run = new TallyRun();
      const good: (readonly TaskRecord[])[] = [];
      let snapshot: Snapshot | undefined;
      for (const [index, { isGood, tasks }] of steps.entries()) {
        if (steps[index - 1]?.isRestarted === true) {
          run.restart();
          hadRestarts += 1;
        }
        if (!isGood) {
          run.fail({ tasks });
          continue;
        }
        good.push(tasks);
        snapshot = run.list({ tasks });
        const inputs = appearances(good, inputCounters);
        const outputs = appearances(good, outputCounters);
        const last = good.length - 1;
        assert.deepEqual(valuesOf(snapshot, 'inputBytes'), modelBytes(inputs, last));
        assert.deepEqual(valuesOf(snapshot, 'httpOutputBytes'), modelBytes(outputs, last));
      }
      // One more listing, alike the last: everything that was born by then shows.
      const tasks = good.at(-1);
      if (tasks === undefined) return;
      good.push(tasks);
      snapshot = run.list({ tasks });
      const { started, ended } = modelChurn(good);
      assert.equal(sum(valuesOf(snapshot, 'tasksStarted')), started);
      assert.equal(sum(valuesOf(snapshot, 'tasksEnded')), ended);
      const resets = {
        input: modelResets(appearances(good, inputCounters)),
        http_output: modelResets(appearances(good, outputCounters)),
      };
      hadResets += resets.input + resets.http_output;
      assert.deepEqual(valuesOf(snapshot, 'byteCounterResets'), resets);
    }),
    { numRuns: 500 },
  );
  assert.ok(hadResets > 0, 'Expected the histories to hold resets, found none');
  assert.ok(hadRestarts > 0, 'Expected the histories to hold restarts, found none');
});
