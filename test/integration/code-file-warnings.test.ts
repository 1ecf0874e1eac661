import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../../src/app.ts';
import { ConfigurationSource } from '../../src/config/configuration-source.ts';
import { createFiles, failHostNameLookup, SECRET, type Files } from '../support/configuration.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { createRecordingLogger } from '../support/recording-logger.ts';

const BUILD = {
  version: '0.0.0',
  revision: 'test',
  nodeVersion: process.version,
  runbookUrl: 'https://docs.example.com/runbook.md',
};

/** Starts the exporter with files that the test changes; `readWarnings` returns the warnings since its last call. */
async function start(files: Record<string, Files[string]>, patterns: string) {
  const { logger, lines } = createRecordingLogger();
  const source = new ConfigurationSource({
    flags: new Map([
      ['web.listen_address', '127.0.0.1:0'],
      ['service_code_files', patterns],
    ]),
    env: { XVS_UPSTREAM_BASE_URL: 'http://127.0.0.1:1', XVS_SECRET: SECRET },
    hostName: failHostNameLookup,
    ...createFiles(files),
  });
  const { configuration } = await source.load();
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const app = await startApp(configuration, { clock, logger, build: BUILD, source });
  let readCount = 0;
  const readWarnings = () => {
    const warnings = lines.slice(readCount).filter(({ level }) => level === 'warn');
    readCount = lines.length;
    return warnings;
  };
  return { ...app, readWarnings };
}

test('a pattern that matches no file is a warning, at the start and when its last file is deleted', async () => {
  const files: Record<string, string> = { '/codes/a.yml': '- A\n- B\n- C' };
  await using app = await start(files, '/codes/*.yml,/codse/*.yml');
  const { readWarnings } = app;
  const msg = 'Pattern in service_code_files matches no file';
  assert.deepEqual(readWarnings(), [{ level: 'warn', msg, pattern: '/codse/*.yml' }]);

  assert.deepEqual(await app.reload('signal'), {});
  assert.deepEqual(readWarnings(), []);

  delete files['/codes/a.yml'];
  assert.deepEqual(await app.reload('file'), {});
  assert.deepEqual(readWarnings(), [
    { level: 'warn', msg, pattern: '/codes/*.yml' },
    {
      level: 'warn',
      msg: 'Service codes disappeared from files',
      count: 3,
      files: { '/codes/a.yml': 3 },
    },
  ]);
});

test('a warning about many files names the ten that lost the most codes', async () => {
  const files: Record<string, string> = {};
  for (let index = 0; index < 12; index += 1) {
    files[`/codes/${index}.yml`] = JSON.stringify(
      Array.from({ length: index + 1 }, (_, code) => `${index}-${code}`),
    );
  }
  await using app = await start(files, '/codes/*.yml');
  const { readWarnings } = app;
  for (const path of Object.keys(files)) files[path] = '[]';
  await app.reload('file');
  const [warning, ...others] = readWarnings();
  assert.deepEqual(others, []);
  assert.equal(warning?.['count'], 78);
  assert.equal(warning?.['more_files'], 2);
  const named = Array.from({ length: 10 }, (_, index) => [`/codes/${11 - index}.yml`, 12 - index]);
  assert.deepEqual(warning?.['files'], Object.fromEntries(named));
});
