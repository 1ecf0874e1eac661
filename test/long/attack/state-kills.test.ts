import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { readRestored, runForTwoPolls, serveGrowingTask, start } from '../../e2e/attack/stateful-exporter.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

/** Makes a process kill itself within some milliseconds after it began to open the database. */
const killWhileOpening = (afterMs: number): string =>
  `--import=data:text/javascript,${encodeURIComponent(`import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const { writeFile } = fs.promises;
    fs.promises.writeFile = async (...file) => {
      await writeFile(...file);
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${afterMs});
    };
    fs.promises.rm = () => new Promise(() => undefined);
    syncBuiltinESMExports();`)}`;

test('twenty kills while the database is being opened, three in a row at most, cost nothing', async (t) => {
  const service = await serveGrowingTask(t);
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  await runForTwoPolls(service, path);
  for (let kill = 1; kill <= 20; kill += 1) {
    await using killed = start(service, path, '1h', killWhileOpening(kill));
    assert.equal(await killed.exitCode, null);
    assert.deepEqual(readdirSync(path), ['database', 'database.opening']);
    if (kill % 3 !== 0) continue;
    const restored = await readRestored(service, path);
    assert.ok(Math.min(...restored) > 0, restored.join());
    assert.deepEqual(readdirSync(path), ['database']);
  }
});
