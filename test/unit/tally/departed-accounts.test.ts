import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountBudget } from '../../../src/tally/account-budget.ts';
import { DepartedAccounts } from '../../../src/tally/ledger/departed-accounts.ts';
import { createTaskAccount } from '../../../src/tally/ledger/task-account.ts';
import { MAX_COST_RATIO, measureCostRatio } from '../../support/cost-ratio.ts';
import { buildTaskRecord } from '../../support/record-builders.ts';
import { TallyRun } from '../../support/tally-run.ts';

const ACCOUNTS = 80_000;
const EVICTED = 40_000;

/** Accounts that have departed, in a budget for all. */
function createDeparted(budget: AccountBudget): DepartedAccounts {
  const departed = new DepartedAccounts(budget, () => undefined);
  budget.add(departed.share);
  const at = { wallMs: 0, monotonicMs: 0 };
  const values = { name: undefined, progress: 0, protocol: undefined, inputCount: 0, connections: 0 };
  for (let index = 0; index < ACCOUNTS; index += 1) {
    const account = createTaskAccount({ ...values, id: `${index}`, vsId: 'v', inputs: [], outputs: [] }, at);
    departed.updateCount(account, 0);
    departed.add(account);
  }
  return departed;
}

/** The least CPU time of some runs on new accounts, in milliseconds. */
function measureCpuMs(run: (departed: DepartedAccounts, budget: AccountBudget) => void): number {
  const samples = Array.from({ length: 3 }, () => {
    const budget = new AccountBudget(ACCOUNTS);
    const departed = createDeparted(budget);
    const start = process.cpuUsage();
    run(departed, budget);
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  });
  return Math.min(...samples);
}

test(`evicting ${EVICTED} accounts costs what forgetting as many expired ones does`, () => {
  const evicted = measureCpuMs((departed, budget) => {
    // Those of new tasks.
    departed.share.add({ live: EVICTED });
    budget.evictExcess();
    assert.deepEqual(budget.counts, { live: EVICTED, departed: ACCOUNTS - EVICTED });
  });
  const expired = measureCpuMs((departed) => {
    let count = 0;
    for (const account of departed.listExpired(0)) {
      departed.forget(account);
      count += 1;
      if (count === EVICTED) break;
    }
    assert.equal(departed.share.departed, ACCOUNTS - EVICTED);
  });
  assert.ok(evicted <= MAX_COST_RATIO * expired, `${evicted} ms, ${expired} ms to forget them`);
});

test(`a listing costs what it does without the accounts of ${ACCOUNTS} tasks that have left`, async () => {
  const createRun = (departed: number): (() => void) => {
    const run = new TallyRun();
    const list = (count: number) =>
      Array.from({ length: count }, (_, index) => buildTaskRecord({ id: `${index}` }));
    run.commitListing({ tasks: list(departed) });
    return () => void run.commitListing({ tasks: list(1) });
  };
  const ratio = await measureCostRatio(createRun(ACCOUNTS), createRun(1));
  assert.ok(ratio <= MAX_COST_RATIO, `${ratio.toFixed(1)} times`);
});
