import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LoadedConfiguration } from '../../src/config/configuration-source.ts';
import { ConfigError } from '../../src/config/problem.ts';
import { Reloader } from '../../src/config/reloader.ts';
import { loadedFrom, NEEDED } from '../support/configuration.ts';

const started = await loadedFrom({ env: NEEDED });
const GOOD: LoadedConfiguration = { ...started, needRestart: ['log.level'] };
const WRONG = new ConfigError([{ place: '/etc/xvs.yml:1:1', message: 'expected this, found that' }]);

/** A reloader whose loads the test answers. */
function setUp(apply: () => Promise<string> = () => Promise.resolve('applied')) {
  const calls: string[] = [];
  const loads: { give(loaded: LoadedConfiguration): Promise<void>; refuse(error: Error): Promise<void> }[] =
    [];
  const reloader = new Reloader({
    load: () =>
      new Promise<LoadedConfiguration>((resolve, reject) => {
        calls.push('load');
        loads.push({
          give: async (loaded) => {
            resolve(loaded);
            await nextTurn();
          },
          refuse: async (error) => {
            reject(error);
            await nextTurn();
          },
        });
      }),
    apply: (next) => {
      assert.equal(next, GOOD.configuration);
      calls.push('apply');
      return apply();
    },
    report: {
      succeeded: (trigger, applied, needRestart) =>
        calls.push(`${trigger}: ${applied}, ${needRestart.join()}`),
      failed: (trigger, { message }) => calls.push(`${trigger}: ${message}`),
      broken: (error) => calls.push(`broken: ${String(error)}`),
    },
  });
  return { reloader, calls, loads };
}

test('a good configuration is applied and reported', async () => {
  const { reloader, calls, loads } = setUp();
  const outcome = reloader.reload('signal');
  await loads[0]?.give(GOOD);
  assert.deepEqual(await outcome, {});
  assert.deepEqual(calls, ['load', 'apply', 'signal: applied, log.level']);
});

test('a wrong configuration is not applied, and the next good one is', async () => {
  const { reloader, calls, loads } = setUp();
  const outcome = reloader.reload('request');
  await loads[0]?.refuse(WRONG);
  assert.deepEqual(await outcome, { error: '/etc/xvs.yml:1:1: expected this, found that' });
  assert.deepEqual(calls, ['load', 'request: /etc/xvs.yml:1:1: expected this, found that']);
  const next = reloader.reload('file');
  await loads[1]?.give(GOOD);
  assert.deepEqual(await next, {});
});

test('who asks while a reload runs shares the next one with all who do', async () => {
  const { reloader, calls, loads } = setUp();
  const first = reloader.reload('signal');
  const [second, third] = [reloader.reload('request'), reloader.reload('file')];
  assert.equal(loads.length, 1);
  await loads[0]?.refuse(WRONG);
  assert.equal((await first).error, WRONG.message);
  assert.equal(loads.length, 2);
  await loads[1]?.give(GOOD);
  assert.deepEqual([await second, await third], [{}, {}]);
  assert.equal(calls.filter((call) => call === 'load').length, 2);
  const fourth = reloader.reload('signal');
  assert.equal(loads.length, 3);
  await loads[2]?.give(GOOD);
  assert.deepEqual(await fourth, {});
});

test('a mistake of the program is reported as one, and told nobody else', async () => {
  const { reloader, calls, loads } = setUp(() => Promise.reject(new TypeError('Expected a function')));
  const outcome = reloader.reload('request');
  await loads[0]?.give(GOOD);
  assert.deepEqual(await outcome, { error: 'Internal error.' });
  assert.deepEqual(calls, ['load', 'apply', 'broken: TypeError: Expected a function']);
});

test('disposing waits for the reload that runs, and lets none come after it', async () => {
  const { reloader, calls, loads } = setUp();
  const [running, waiting] = [reloader.reload('signal'), reloader.reload('signal')];
  let isDisposed = false;
  const disposed = reloader[Symbol.asyncDispose]().then(() => {
    isDisposed = true;
  });
  await nextTurn();
  assert.equal(isDisposed, false);
  await loads[0]?.give(GOOD);
  await disposed;
  assert.deepEqual([await running, await waiting], [{}, { error: 'The exporter is ending.' }]);
  assert.deepEqual(await reloader.reload('file'), { error: 'The exporter is ending.' });
  assert.deepEqual(calls, ['load', 'apply', 'signal: applied, log.level']);
});
