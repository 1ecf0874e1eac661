import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LoadedConfiguration } from '../../src/config/configuration-source.ts';
import { ConfigError } from '../../src/config/config-error.ts';
import type { CodeFile } from '../../src/config/service-codes/code-files.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Reloader, type ReloaderOptions } from '../../src/reloader.ts';
import type { CodeDiff, PolledCode } from '../../src/poller/polled-code.ts';
import { deferred } from '../support/deferred.ts';
import { createRecordingLogger } from '../support/recording-logger.ts';
import { createPolledCode } from './poller/rig.ts';
import { readIdentity } from '../support/fixtures.ts';
import { loadWithSources, REQUIRED_ENVIRONMENT } from '../support/configuration.ts';

const started = await loadWithSources({ env: REQUIRED_ENVIRONMENT });
const VALID: LoadedConfiguration = {
  ...started,
  settingsNeedingRestart: ['log.level'],
  unmatchedPatterns: ['/etc/codes/*.yml'],
};
const createCodes = (count: number): readonly PolledCode[] =>
  Array.from({ length: count }, (_, index) => createPolledCode(`C${index}`));
const APPLIED: CodeDiff = {
  added: createCodes(1),
  changed: [],
  kept: createCodes(1),
  removed: createCodes(12),
  relabelled: [],
  expectationChanged: [],
};
const PROBLEM = { location: '/etc/xvs.yml:1:1', message: 'expected this, found that' };
const INVALID = new ConfigError([PROBLEM]);

/** Creates a reloader whose loads the test settles. */
function createReloader(apply: () => Promise<CodeDiff> = () => Promise.resolve(APPLIED)) {
  const { logger, lines } = createRecordingLogger();
  const calls: string[] = [];
  const applied: unknown[] = [];
  const loads = [1, 2, 3].map(() => deferred<LoadedConfiguration | ConfigError>());
  const waiting = loads.values();
  const load = async (): Promise<LoadedConfiguration> => {
    calls.push('load');
    const loaded = await waiting.next().value?.promise;
    assert.ok(loaded);
    if (loaded instanceof ConfigError) throw loaded;
    return loaded;
  };
  const exporter: ReloaderOptions['exporter'] = {
    apply: (next) => {
      applied.push(next);
      calls.push('apply');
      return apply();
    },
    exporterMetrics: {
      recordConfigLoad: (isSuccessful, codeFiles) => {
        const names = codeFiles?.map(({ name }) => name).join(' ') ?? 'no files';
        calls.push(`${isSuccessful ? 'success' : 'failure'}: ${names}`);
      },
    },
  };
  const onInternalError = (error: unknown) => calls.push(`broken: ${String(error)}`);
  const reloader = new Reloader({
    source: { load },
    exporter,
    logger,
    clock: systemClock,
    warnings: [],
    onInternalError,
  });
  return { reloader, calls, applied, loads, lines };
}

test('a valid configuration is applied and logged', async () => {
  const { reloader, calls, applied, loads, lines } = createReloader();
  const outcome = reloader.reload('signal');
  loads[0]?.resolve(VALID);
  assert.deepEqual(await outcome, {});
  assert.deepEqual(calls, ['load', 'apply', 'success: ']);
  assert.deepEqual(applied, [VALID.configuration]);
  const codes = ['C0', 'C1', 'C2', 'C3', 'C4', 'C5', 'C6', 'C7', 'C8', 'C9'];
  const counts = { added: 1, changed: 0, kept: 1, removed: 12 };
  assert.deepEqual(lines, [
    { level: 'info', msg: 'Configuration reloaded', trigger: 'signal', ...counts },
    { level: 'warn', msg: 'Some changed settings need a restart', settings: ['log.level'] },
    { level: 'warn', msg: 'Pattern in service_code_files matches no file', pattern: '/etc/codes/*.yml' },
    { level: 'warn', msg: 'Service codes disappeared', count: 12, service_codes: codes },
  ]);
});

test('a bad file of service codes is a failure that names it, and all else is applied', async () => {
  const { reloader, calls, loads, lines } = createReloader();
  const [good, bad] = ['good.yml', 'bad.yml'].map((name): CodeFile => {
    const problems = name === 'bad.yml' ? [PROBLEM] : [];
    return { name, path: name, codes: [], problems };
  });
  assert.ok(good && bad);
  const outcome = reloader.reload('request');
  loads[0]?.resolve({ ...VALID, codeFiles: [good, bad] });
  assert.deepEqual(await outcome, { error: INVALID.message });
  assert.deepEqual(calls, ['load', 'apply', 'failure: good.yml bad.yml']);
  const msg = 'Service code files are invalid; keeping their previous codes';
  assert.deepEqual(lines.at(-1), {
    level: 'error',
    msg,
    trigger: 'request',
    err: { message: INVALID.message },
  });
});

test('a reload logs a warning that the configuration did not have before', async () => {
  const { reloader, loads, lines } = createReloader();
  const files = { cert_file: '/c.pem', key_file: '/c.key' };
  const { cert, key } = readIdentity('expired');
  const expired = await loadWithSources({
    env: REQUIRED_ENVIRONMENT,
    yml: `upstream: ${JSON.stringify(files)}`,
    files: { '/c.pem': cert, '/c.key': key },
  });
  const counts: number[] = [];
  for (const [index, loaded] of [expired, expired, VALID].entries()) {
    loads[index]?.resolve(loaded);
    await reloader.reload('file');
    counts.push(lines.filter(({ msg }) => msg === 'Questionable configuration').length);
  }
  assert.deepEqual(counts, [1, 1, 1]);
});

test('an invalid configuration is not applied, and the next valid one is', async () => {
  const { reloader, calls, loads } = createReloader();
  const outcome = reloader.reload('request');
  loads[0]?.resolve(INVALID);
  assert.deepEqual(await outcome, { error: '/etc/xvs.yml:1:1: expected this, found that' });
  assert.deepEqual(calls, ['load', 'failure: no files']);
  const next = reloader.reload('file');
  loads[1]?.resolve(VALID);
  assert.deepEqual(await next, {});
});

test('all requests during a reload share the next one', async () => {
  const { reloader, calls, loads } = createReloader();
  const first = reloader.reload('signal');
  await nextTurn();
  const [second, third] = [reloader.reload('request'), reloader.reload('file')];
  await nextTurn();
  assert.deepEqual(calls, ['load']);
  loads[0]?.resolve(INVALID);
  assert.equal((await first).error, INVALID.message);
  loads[1]?.resolve(VALID);
  assert.deepEqual([await second, await third], [{}, {}]);
  const fourth = reloader.reload('signal');
  loads[2]?.resolve(VALID);
  assert.deepEqual(await fourth, {});
  assert.equal(calls.filter((call) => call === 'load').length, 3);
});

test('a bug is reported as such, and the outcome does not describe it', async () => {
  const { reloader, calls, loads } = createReloader(() =>
    Promise.reject(new TypeError('Expected a function')),
  );
  const outcome = reloader.reload('request');
  loads[0]?.resolve(VALID);
  assert.deepEqual(await outcome, { error: 'Internal error.' });
  assert.deepEqual(calls, ['load', 'apply', 'broken: TypeError: Expected a function']);
});

test('disposal waits for a reload that applies the configuration, and prevents further ones', async () => {
  const applying = deferred<CodeDiff>();
  const { reloader, calls, loads } = createReloader(() => applying.promise);
  const running = reloader.reload('signal');
  loads[0]?.resolve(VALID);
  await nextTurn();
  const waiting = reloader.reload('signal');
  let isDisposed = false;
  const disposed = reloader[Symbol.asyncDispose]().then(() => {
    isDisposed = true;
  });
  await nextTurn();
  assert.equal(isDisposed, false);
  applying.resolve(APPLIED);
  await disposed;
  assert.deepEqual([await running, await waiting], [{}, { error: 'The exporter is shutting down.' }]);
  assert.deepEqual(await reloader.reload('file'), { error: 'The exporter is shutting down.' });
  assert.deepEqual(calls, ['load', 'apply', 'success: ']);
});

test('disposal does not wait for files', async () => {
  const { reloader, calls, loads } = createReloader();
  const running = reloader.reload('signal');
  await nextTurn();
  await reloader[Symbol.asyncDispose]();
  assert.deepEqual(await running, { error: 'The exporter is shutting down.' });
  loads[0]?.resolve(VALID);
  assert.deepEqual(calls, ['load']);
});
