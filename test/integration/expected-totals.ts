import assert from 'node:assert/strict';
import { CODES, type Code } from './configured.ts';
import { ByteGrowth } from './listed-bytes.ts';
import type { Rig } from './rig.ts';
import { growthOf, type Series } from './series.ts';

/** Holds the counters of every service code to what the service listed at the time of each good poll. */
export class Accounts {
  /** Which tasks, by their place, a listing of the service code holds. */
  isListed: (code: Code, index: number) => boolean = () => true;
  readonly #rig: Rig;
  readonly #start: Series;
  readonly #growth = new Map(CODES.map((code) => [code, new ByteGrowth()]));

  constructor(rig: Rig, start: Series) {
    this.#rig = rig;
    this.#start = start;
    for (const code of CODES) this.note(code);
  }

  /** Notes the listing that a good poll of this moment found. */
  readonly note = (code: Code): void => {
    const listing = this.#rig.listingBytes(code, (index) => this.isListed(code, index));
    this.#growth.get(code)?.note(listing);
  };

  check(end: Series): void {
    for (const [code, { input, output, started, ended }] of this.#growth) {
      const counted = {
        input: growthOf('xvs_input_bytes_total', this.#start, end, code),
        output: growthOf('xvs_http_output_bytes_total', this.#start, end, code),
        started: growthOf('xvs_tasks_started_total', this.#start, end, code),
        ended: growthOf('xvs_tasks_ended_total', this.#start, end, code),
      };
      assert.deepEqual(counted, { input, output, started, ended }, `what was counted of ${code}`);
      assert.ok(input > 0 && output > 0, `Expected bytes of ${code} to flow`);
    }
  }
}
