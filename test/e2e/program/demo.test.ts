import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseExposition } from '../../support/exposition-parser.ts';
import { Program, startProgram } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

const DEMO_PATH = fileURLToPath(new URL('../../simulator/demo.js', import.meta.url));

/** The demo is to leave it alone. */
const UNREACHABLE_PROXY = { http_proxy: 'http://127.0.0.1:1', HTTPS_PROXY: 'http://127.0.0.1:1' };

/** Starts the demo with a folder for its temporary files. What others keep in it is not for the demo. */
function startDemo(folder: TemporaryFolder, ...flags: readonly string[]): Program {
  const args = [DEMO_PATH, '--web.listen-address=127.0.0.1:0', ...flags];
  const env = { TMPDIR: folder.path, STATE_DIRECTORY: folder.path, ...UNREACHABLE_PROXY };
  return new Program(process.execPath, args, env);
}

test('the demo runs simulator and exporter whose streams are counted, beside which once --explain works', async () => {
  using folder = new TemporaryFolder();
  await using demo = startDemo(folder, '--poll.interval=1s');
  const metrics = await demo.waitForOutput(/(http:\S+\/metrics)/);
  const bytes = async (): Promise<number> => {
    const { families } = parseExposition(await (await fetch(metrics)).text(), 'text');
    const samples = families.get('xvs_expected_task_input_bytes_total')?.samples ?? [];
    return samples.reduce((sum, { value }) => sum + value, 0);
  };
  await demo.waitForOutput(/Poll succeeded.*STADIUM|STADIUM.*Poll succeeded/);
  while ((await bytes()) === 0);
  const [name = ''] = readdirSync(folder.path);
  const file = folder.at(`${name}/config.json`);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  await using explained = startProgram(['once', '--explain', '--only=STADIUM', `--config.file=${file}`]);
  assert.equal(await explained.exitCode, 0, explained.stdout + explained.stderr);
  demo.signal('SIGINT');
  assert.equal(await demo.exitCode, 0, demo.stderr);
  await assert.rejects(fetch(metrics));
  assert.deepEqual(readdirSync(folder.path), []);
});

test('if the exporter ends, the demo ends with its exit code and removes its files', async () => {
  using folder = new TemporaryFolder();
  await using demo = startDemo(folder, '--poll.interval=soon');
  assert.equal(await demo.exitCode, 2);
  assert.match(demo.stderr, /^flag --poll\.interval: expected .*\n$/);
  assert.equal(demo.stdout, '');
  assert.deepEqual(readdirSync(folder.path), []);
});
