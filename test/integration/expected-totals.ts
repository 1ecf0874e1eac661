import assert from 'node:assert/strict';
import type { SimulatedTask } from '../simulator/records.ts';
import { computeGrowth, type Series } from '../support/series.ts';
import { CODES, type Code } from './rig-configuration.ts';
import type { Rig } from './rig.ts';

/** Tasks of each rig whose end was counted. The exporter does not count a second end. */
const endedTasksByRig = new WeakMap<Rig, Set<string>>();

/** Compares the counters of every service code with the listings of its successful polls. */
export class ExpectedTotals {
  readonly #rig: Rig;
  readonly #start: Series;
  readonly #growth: ReadonlyMap<Code, ListingGrowth>;

  constructor(rig: Rig, start: Series) {
    this.#rig = rig;
    this.#start = start;
    const endedTasks = endedTasksByRig.get(rig) ?? new Set<string>();
    endedTasksByRig.set(rig, endedTasks);
    this.#growth = new Map(CODES.map((code) => [code, new ListingGrowth(endedTasks)]));
    for (const code of CODES) this.recordListing(code);
  }

  /** Records the current listing as read by a successful poll. */
  readonly recordListing = (code: Code): void => {
    const { world, clock } = this.#rig;
    this.#growth.get(code)?.recordListing([...world.tasks(code, clock.now())]);
  };

  assertCountersMatch(end: Series): void {
    for (const [code, { input, output, started, ended }] of this.#growth) {
      const counted = {
        input: computeGrowth('xvs_input_bytes_total', this.#start, end, code),
        output: computeGrowth('xvs_http_output_bytes_total', this.#start, end, code),
        started: computeGrowth('xvs_tasks_started_total', this.#start, end, code),
        ended: computeGrowth('xvs_tasks_ended_total', this.#start, end, code),
      };
      assert.deepEqual(counted, { input, output, started, ended }, `the counters of ${code}`);
      assert.ok(input > 0 && output > 0, `Expected bytes of ${code} to flow`);
    }
  }
}

/** Sums the growth of byte counts, and counts started and ended tasks, from the first listing to the last. */
class ListingGrowth {
  input = 0;
  output = 0;
  started = 0;
  ended = 0;
  readonly #endedTasks: Set<string>;
  readonly #lastBytes = new Map<string, number>();
  #tasks: ReadonlySet<string> | undefined;

  constructor(endedTasks: Set<string>) {
    this.#endedTasks = endedTasks;
  }

  /** The first listing is the baseline. */
  recordListing(listed: readonly SimulatedTask[]): void {
    const before = this.#tasks;
    this.#tasks = new Set(listed.map(({ id }) => id));
    let [input, output] = [0, 0];
    for (const { id, input_bytes: bytes, outputs } of listed) {
      input += this.#grow(`input ${id}`, bytes);
      for (const part of outputs) output += this.#grow(`output ${part.file_name}`, part.http_output_bytes);
    }
    if (before === undefined) return;
    const ended = [...before].filter((id) => !this.#tasks?.has(id) && !this.#endedTasks.has(id));
    this.input += input;
    this.output += output;
    // A task that returns after an absence does not start or end again.
    this.started += [...this.#tasks].filter((id) => !before.has(id) && !this.#endedTasks.has(id)).length;
    this.ended += ended.length;
    for (const id of ended) this.#endedTasks.add(id);
  }

  #grow(key: string, bytes: number): number {
    const growth = bytes - (this.#lastBytes.get(key) ?? 0);
    this.#lastBytes.set(key, bytes);
    return growth;
  }
}
