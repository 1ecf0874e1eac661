import assert from 'node:assert/strict';
import { CODES, type Code } from './rig-configuration.ts';
import { ByteGrowth } from '../support/listing-bytes.ts';
import type { Rig } from './rig.ts';
import { computeGrowth, type Series } from '../support/series.ts';

/** Tasks of each rig whose end was counted, by service code. The exporter does not count a second end. */
const endedTasksByRig = new WeakMap<Rig, ReadonlyMap<Code, Set<string>>>();

/** Compares the counters of every service code with the listings of its successful polls. */
export class ExpectedTotals {
  /** Selects the tasks of a listing by their index. */
  isListed: (code: Code, index: number) => boolean = () => true;
  readonly #rig: Rig;
  readonly #start: Series;
  readonly #growth: ReadonlyMap<Code, ByteGrowth>;

  constructor(rig: Rig, start: Series) {
    this.#rig = rig;
    this.#start = start;
    const endedTasks = endedTasksByRig.get(rig) ?? new Map(CODES.map((code) => [code, new Set<string>()]));
    endedTasksByRig.set(rig, endedTasks);
    this.#growth = new Map(CODES.map((code) => [code, new ByteGrowth(endedTasks.get(code))]));
    for (const code of CODES) this.recordListing(code);
  }

  /** Records the current listing as read by a successful poll. */
  readonly recordListing = (code: Code): void => {
    const listing = this.#rig.listingBytes(code, (index) => this.isListed(code, index));
    this.#growth.get(code)?.recordListing(listing);
  };

  countEnded(code: Code): number {
    return this.#growth.get(code)?.ended ?? 0;
  }

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
