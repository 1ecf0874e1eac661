import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountBudget } from '../../../src/tally/account-budget.ts';
import { DepartedAccounts } from '../../../src/tally/ledger/departed-accounts.ts';
import { createTaskAccount } from '../../../src/tally/ledger/task-account.ts';
import { MAX_COST_RATIO, measureCostRatio } from '../../support/cost-ratio.ts';

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

test(`evicting ${EVICTED} accounts costs what forgetting as many expired ones does`, async () => {
  const evict = (): void => {
    const budget = new AccountBudget(ACCOUNTS);
    const departed = createDeparted(budget);
    // The accounts of new tasks.
    departed.share.add({ live: EVICTED });
    budget.evictExcess();
    assert.deepEqual(budget.counts, { live: EVICTED, departed: ACCOUNTS - EVICTED });
  };
  const forget = (): void => {
    const departed = createDeparted(new AccountBudget(ACCOUNTS));
    for (const account of [...departed.listExpired(0)].slice(0, EVICTED)) departed.forget(account);
    assert.equal(departed.share.departed, ACCOUNTS - EVICTED);
  };
  const ratio = await measureCostRatio(evict, forget);
  assert.ok(ratio <= MAX_COST_RATIO, `${ratio.toFixed(1)} times`);
});
