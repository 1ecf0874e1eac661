import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { StoreHarness, type Totals } from '../../unit/state/store-fixtures.ts';

const CHILD = fileURLToPath(new URL('children/publishing.js', import.meta.url));
const TASKS = 300;
/** More than the totals that a child publishes. */
const BYTES_PER_RUN = 10;

interface KilledRun {
  readonly operation: string;
  readonly published: Totals | undefined;
}

/** Runs a child until its Nth file operation and kills it there. */
async function killBeforeOperation(path: string, number: number, firstBytes: number): Promise<KilledRun> {
  const child = fork(CHILD, [path, String(number), String(firstBytes)], { execArgv: [] });
  const exited = once(child, 'exit');
  let published: Totals | undefined;
  const operation = await new Promise<string>((resolve, reject) => {
    child.on('message', (message: Totals | string) => {
      if (typeof message === 'string') resolve(message);
      else published = message;
    });
    void exited.then(([code]) =>
      reject(new Error(`Expected the child to run, found exit code ${String(code)}`)),
    );
  });
  child.kill('SIGKILL');
  assert.deepEqual(await exited, [null, 'SIGKILL']);
  return { operation, published };
}

function listingOf(bytes: number): Record<string, number> {
  const names = Array.from({ length: TASKS }, (_, number) => `v${number % 20}/task-${number}`);
  return Object.fromEntries(names.map((name) => [name, bytes]));
}

function sumInputBytes(totals: Totals): number {
  return Object.entries(totals).reduce(
    (sum, [key, total]) => (key.startsWith('inputBytes ') ? sum + total : sum),
    0,
  );
}

test('a process killed at any file operation resumes at the published totals and counts each byte once', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  let bytes = 1;
  const first = await StoreHarness.start(path, ['TESTING']);
  await first.publish('TESTING', listingOf(bytes));
  await first.store[Symbol.asyncDispose]();
  const operations: string[] = [];
  while (operations.at(-1) !== 'none') {
    const { operation, published = {} } = await killBeforeOperation(path, operations.length + 1, bytes);
    operations.push(operation);
    bytes += BYTES_PER_RUN;
    const restarted = await StoreHarness.open(path, ['TESTING']);
    const where = operations.join(' ');
    assert.deepEqual(
      restarted.lines.filter(({ level, msg }) => level !== 'info' && !/damaged/.test(msg)),
      [],
      where,
    );
    const resumed = restarted.resumed('TESTING');
    for (const [key, total] of Object.entries(published))
      assert.ok((resumed[key] ?? Number.NaN) >= total, `${key}: ${resumed[key]} < ${total} at ${where}`);
    const totals = restarted.commit('TESTING', listingOf(bytes));
    assert.equal(sumInputBytes(totals), TASKS * (bytes - 1), where);
    assert.equal(totals['byteCounterResets TESTING input'] ?? totals['byteCounterResets input'], 0, where);
  }
  assert.ok(operations.length > 40, `Expected many operations, found ${operations.join(' ')}`);
  for (const operation of ['rename', 'write', 'sync', 'truncate', 'rm', 'open', 'close'])
    assert.ok(operations.includes(operation), `Expected ${operation}, found ${operations.join(' ')}`);
});
