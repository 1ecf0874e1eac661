import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ListingReader } from '../../../src/listing/reader.ts';
import { computeTotals, PollHistory } from '../../../src/poller/poll-history.ts';
import { NO_POLLS } from '../../../src/poller/poll-metrics.ts';
import { Store } from '../../../src/poller/store.ts';
import { AccountBudget } from '../../../src/tally/account-budget.ts';
import { Tally } from '../../../src/tally/tally.ts';
import { breakDownListing } from '../../../src/web/listing-breakdown.ts';
import { sumListing } from '../../../src/web/listing-totals.ts';
import { createReaderPool } from '../../support/read-listing.ts';
import { render } from '../../support/render.ts';
import { createRunParameters } from '../../support/run-parameters.ts';
import { parseSeries, sumSeries } from '../../support/series.ts';

const INTERVAL_MS = 15_000;
const MAX_ACCOUNTS = 10;
const POOL = createReaderPool({ maxAccounts: MAX_ACCOUNTS - 3 });
const EXPECTATION = { tasks: 1, names: ['expected'] };

const server = fc.constantFrom('a', 'b', 'c', 'd', '');
const bytes = fc.constantFrom(0, 0, 1000, 2000, 3000, 1e15, -1);
const output = fc.record({
  format: fc.constantFrom('flv', 'rtmp'),
  http_output_bytes: bytes,
  http_connections_num: fc.nat(3),
});
const task = fc.record({
  // The last one is rejected, and so is what is there twice.
  id: fc.constantFrom('1', '2', '3', '4', '5', '6', '\n'),
  vs_id: server,
  progress: fc.constantFrom(0, 0, 0, 1),
  input_bytes: bytes,
  opaque: fc.constantFrom('', 'expected'),
  outputs: fc.array(output, { maxLength: 2 }),
});
const listing = fc.record({
  ret: fc.constant(0),
  user_list: fc.array(fc.oneof(fc.record({ vs_id: server }), fc.constant(7)), { maxLength: 5 }),
  task_list: fc.array(task, { maxLength: 7 }),
});
/** Polls of two codes. */
const polls = fc.array(fc.tuple(fc.constantFrom(0, 1), listing), { minLength: 1, maxLength: 10 });

/** A service code that shares a budget of accounts, and what `/metrics` and its page show after a poll. */
class Code {
  readonly #tally: Tally;
  readonly #store = new Store();
  readonly #history = new PollHistory();

  constructor(serviceCode: string, accountBudget: AccountBudget) {
    this.#tally = new Tally({
      serviceCode,
      maxLabelSets: 3,
      maxStreamRate: 1e6,
      stallAfterMs: 2 * INTERVAL_MS,
      pollIntervalMs: INTERVAL_MS,
      perTask: false,
      maxTasks: 1,
      accountBudget,
    });
    this.#tally.expectation = EXPECTATION;
    accountBudget.add(this.#tally.accountShare);
  }

  poll(body: unknown, atMs: number) {
    const { serviceCode, accountShare } = this.#tally;
    const options = { serviceCode, expectation: EXPECTATION, taskName: 'opaque' } as const;
    using reader = new ListingReader(options, POOL, accountShare);
    reader.write(Buffer.from(JSON.stringify(body)));
    const read = reader.end();
    assert.ok(read !== undefined);
    const { snapshot } = this.#tally.commit(read, { wallMs: atMs, monotonicMs: atMs });
    this.#history.append({ atMs, durationMs: 1, totals: computeTotals(snapshot) });
    this.#store.publish({
      serviceCode,
      snapshot,
      staleAfterMs: INTERVAL_MS,
      intervalMs: INTERVAL_MS,
      listedMs: atMs,
      polls: NO_POLLS,
      history: this.#history,
      labels: {},
      expectation: EXPECTATION,
    });
    const families = this.#store.collectFamilies(snapshot.at, this.#store.states, 'total');
    const series = parseSeries(render(families, 'text'));
    return {
      totals: sumListing(snapshot, this.#history.latestRates),
      servers: breakDownListing(snapshot).servers,
      expected: snapshot.expectedTasks,
      sum: (family: string): number => sumSeries(series, family, serviceCode),
    };
  }
}

/** Those of the whole code and of each server. */
const SHOWN = ['users', 'tasks', 'connections', 'stalledTasks', 'tasksWithoutInput'] as const;

test('each number of a page is that of its families', () => {
  fc.assert(
    fc.property(polls, (steps) => {
      const budget = new AccountBudget(MAX_ACCOUNTS);
      const codes = [new Code('A', budget), new Code('B', budget)];
      const counted = new Map<string, number>();
      for (const [index, [code, body]] of steps.entries()) {
        const { totals, servers, expected, sum } =
          codes[code]?.poll(body, index * INTERVAL_MS) ?? assert.fail();
        /** What the listing adds to a counter. */
        const increase = (family: string): number => {
          const key = `${code} ${family}`;
          const before = counted.get(key) ?? 0;
          counted.set(key, sum(family));
          return sum(family) - before;
        };
        const shown = {
          users: sum('xvs_listing_users'),
          tasks: sum('xvs_listing_tasks'),
          connections: sum('xvs_http_connections'),
          stalledTasks: sum('xvs_tasks_stalled'),
          tasksWithoutInput: sum('xvs_tasks_without_input'),
        };
        assert.deepEqual(
          { ...totals, rejected: totals.rejected.count },
          {
            ...totals,
            ...shown,
            tasksWithProgress: sum('xvs_tasks_with_progress'),
            byteCountsWaiting: sum('xvs_byte_counts_waiting'),
            rejected: increase('xvs_exporter_invalid_records_total'),
            tasksWithoutAccount: increase('xvs_exporter_listing_surplus_total'),
          },
        );
        const ofServers = Object.fromEntries(
          SHOWN.map((number) => [number, servers.reduce((all, one) => all + one[number], 0)]),
        );
        assert.deepEqual(ofServers, shown);
        const [{ connections = 0, outputs = 0, condition } = assert.fail()] = expected;
        assert.deepEqual(
          [connections, outputs, Number(condition === 'up')],
          ['http_connections', 'outputs', 'up'].map((name) => sum(`xvs_expected_task_${name}`)),
        );
      }
    }),
    createRunParameters(100),
  );
});
