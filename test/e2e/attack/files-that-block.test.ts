import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { truncateSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { startProgram } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { HASH, PASSWORD } from '../../unit/web/secured-server.ts';

const WEB_CONFIGURATION = `basic_auth_users:\n  prometheus: ${HASH}\n`;
const AUTHORIZATION = `Basic ${Buffer.from(`prometheus:${PASSWORD}`).toString('base64')}`;
const BASE = {
  XVS_UPSTREAM_BASE_URL: 'http://127.0.0.1:1',
  XVS_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
};

function makeFifo(folder: TemporaryFolder, name: string): void {
  execFileSync('mkfifo', [folder.at(`${name}.new`)]);
  execFileSync('mv', ['-f', folder.at(`${name}.new`), folder.at(name)]);
}

function makeHuge(folder: TemporaryFolder, name: string): void {
  truncateSync(folder.at(name), 5 * 1024 * 1024);
}

function createFiles(folder: TemporaryFolder): Readonly<Record<string, string>> {
  writeFileSync(folder.at('secret'), 'abc\n');
  writeFileSync(folder.at('codes.yml'), '- A\n');
  writeFileSync(folder.at('web.yml'), WEB_CONFIGURATION);
  return {
    ...BASE,
    XVS_SECRET_FILE: folder.at('secret'),
    XVS_SERVICE_CODE_FILES: folder.at('codes.yml'),
    XVS_WEB_CONFIG_FILE: folder.at('web.yml'),
  };
}

for (const name of ['secret', 'codes.yml', 'web.yml']) {
  for (const [what, spoil, found] of [
    ['a FIFO', makeFifo, 'not a regular file'],
    ['larger than 4 MiB', makeHuge, 'larger than 4 MiB'],
  ] as const) {
    test(`--config.check rejects ${name} if it is ${what}`, { timeout: 600_000 }, async () => {
      using folder = new TemporaryFolder();
      const env = createFiles(folder);
      spoil(folder, name);
      await using check = startProgram(['--config.check'], env);
      assert.equal(await check.exitCode, 2);
      assert.match(check.stderr, new RegExp(`expected a readable file.*, found .*${found}`));
    });
  }
}

test(
  'while files are FIFOs, the exporter answers, rejects reloads, and stops',
  { timeout: 600_000 },
  async () => {
    using folder = new TemporaryFolder();
    await using exporter = startProgram([], createFiles(folder));
    const port = await exporter.waitForPort();
    const scrape = async (headers: Readonly<Record<string, string>>): Promise<number> => {
      const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers });
      await response.arrayBuffer();
      return response.status;
    };
    for (const name of ['secret', 'codes.yml', 'web.yml']) makeFifo(folder, name);
    exporter.signal('SIGHUP');
    await exporter.waitForOutput(/"msg":"Configuration reload failed"/);
    await exporter.waitForOutput(/"msg":"Web configuration reload failed; keeping the previous one"/);
    assert.deepEqual([await scrape({ authorization: AUTHORIZATION }), await scrape({})], [200, 401]);
    folder.replace('secret', 'abc\n');
    folder.replace('codes.yml', '- A\n- B\n');
    exporter.signal('SIGHUP');
    await exporter.waitForOutput(/"added":1.*"msg":"Configuration reloaded"/);
    makeFifo(folder, 'secret');
    exporter.signal('SIGTERM');
    assert.equal(await exporter.exitCode, 0);
  },
);

test('while a file system hangs, the exporter answers and stops', { timeout: 600_000 }, async () => {
  using folder = new TemporaryFolder();
  const script = `
    import fs from 'node:fs/promises';
    import { syncBuiltinESMExports } from 'node:module';
    process.on('SIGUSR2', () => {
      fs.open = fs.stat = () => { process.stdout.write('Hanging'); return new Promise(() => undefined); };
      syncBuiltinESMExports();
    });`;
  const env = {
    ...createFiles(folder),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}`,
  };
  await using exporter = startProgram([], env);
  const port = await exporter.waitForPort();
  exporter.signal('SIGUSR2');
  await exporter.waitForOutput(/Hanging/);
  exporter.signal('SIGHUP');
  const scrape = await fetch(`http://127.0.0.1:${port}/metrics`, {
    headers: { authorization: AUTHORIZATION },
  });
  assert.equal(scrape.status, 200);
  exporter.signal('SIGTERM');
  // Not an exit code: exiting would wait for the call.
  assert.equal(await exporter.exitCode, null);
  assert.match(exporter.stderr, /"msg":"Shutting down"/);
  assert.doesNotMatch(exporter.stderr, /"msg":"Shutdown timed out"/);
});
