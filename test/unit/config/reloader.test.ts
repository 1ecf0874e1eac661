import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LoadedConfiguration } from '../../../src/config/configuration-source.ts';
import { ConfigError } from '../../../src/config/config-error.ts';
import { Reloader } from '../../../src/config/reloader.ts';
import { deferred } from '../../support/deferred.ts';
import { loadWithSources, REQUIRED_ENVIRONMENT } from '../../support/configuration.ts';

const started = await loadWithSources({ env: REQUIRED_ENVIRONMENT });
const VALID: LoadedConfiguration = { ...started, settingsNeedingRestart: ['log.level'] };
const INVALID = new ConfigError([{ location: '/etc/xvs.yml:1:1', message: 'expected this, found that' }]);

/** Creates a reloader whose loads the test settles. */
function createReloader(apply: () => Promise<string> = () => Promise.resolve('applied')) {
  const calls: string[] = [];
  const loads: {
    resolve(loaded: LoadedConfiguration): Promise<void>;
    reject(error: Error): Promise<void>;
  }[] = [];
  const reloader = new Reloader({
    load: () =>
      new Promise<LoadedConfiguration>((resolve, reject) => {
        calls.push('load');
        loads.push({
          resolve: async (loaded) => {
            resolve(loaded);
            await nextTurn();
          },
          reject: async (error) => {
            reject(error);
            await nextTurn();
          },
        });
      }),
    apply: (next) => {
      assert.equal(next, VALID.configuration);
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

test('a valid configuration is applied and reported', async () => {
  const { reloader, calls, loads } = createReloader();
  const outcome = reloader.reload('signal');
  await loads[0]?.resolve(VALID);
  assert.deepEqual(await outcome, {});
  assert.deepEqual(calls, ['load', 'apply', 'signal: applied, log.level']);
});

test('an invalid configuration is not applied, and the next valid one is', async () => {
  const { reloader, calls, loads } = createReloader();
  const outcome = reloader.reload('request');
  await loads[0]?.reject(INVALID);
  assert.deepEqual(await outcome, { error: '/etc/xvs.yml:1:1: expected this, found that' });
  assert.deepEqual(calls, ['load', 'request: /etc/xvs.yml:1:1: expected this, found that']);
  const next = reloader.reload('file');
  await loads[1]?.resolve(VALID);
  assert.deepEqual(await next, {});
});

test('all requests during a reload share the next one', async () => {
  const { reloader, calls, loads } = createReloader();
  const first = reloader.reload('signal');
  const [second, third] = [reloader.reload('request'), reloader.reload('file')];
  assert.equal(loads.length, 1);
  await loads[0]?.reject(INVALID);
  assert.equal((await first).error, INVALID.message);
  assert.equal(loads.length, 2);
  await loads[1]?.resolve(VALID);
  assert.deepEqual([await second, await third], [{}, {}]);
  assert.equal(calls.filter((call) => call === 'load').length, 2);
  const fourth = reloader.reload('signal');
  assert.equal(loads.length, 3);
  await loads[2]?.resolve(VALID);
  assert.deepEqual(await fourth, {});
});

test('a bug is reported as such, and the outcome does not describe it', async () => {
  const { reloader, calls, loads } = createReloader(() =>
    Promise.reject(new TypeError('Expected a function')),
  );
  const outcome = reloader.reload('request');
  await loads[0]?.resolve(VALID);
  assert.deepEqual(await outcome, { error: 'Internal error.' });
  assert.deepEqual(calls, ['load', 'apply', 'broken: TypeError: Expected a function']);
});

test('disposal waits for a reload that applies the configuration, and prevents further ones', async () => {
  const applying = deferred<string>();
  const { reloader, calls, loads } = createReloader(() => applying.promise);
  const [running, waiting] = [reloader.reload('signal'), reloader.reload('signal')];
  await loads[0]?.resolve(VALID);
  let isDisposed = false;
  const disposed = reloader[Symbol.asyncDispose]().then(() => {
    isDisposed = true;
  });
  await nextTurn();
  assert.equal(isDisposed, false);
  applying.resolve('applied');
  await disposed;
  assert.deepEqual([await running, await waiting], [{}, { error: 'The exporter is shutting down.' }]);
  assert.deepEqual(await reloader.reload('file'), { error: 'The exporter is shutting down.' });
  assert.deepEqual(calls, ['load', 'apply', 'signal: applied, log.level']);
});

test('disposal does not wait for files', async () => {
  const { reloader, calls, loads } = createReloader();
  const running = reloader.reload('signal');
  await reloader[Symbol.asyncDispose]();
  assert.deepEqual(await running, { error: 'The exporter is shutting down.' });
  await loads[0]?.resolve(VALID);
  assert.deepEqual(calls, ['load']);
});
