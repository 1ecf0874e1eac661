import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { isInstalled } from '../../support/installed-programs.ts';
import { Program } from '../../support/program.ts';
import { listRepositoryFolder, repositoryPath } from '../../support/repository.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { GENERATED_FOLDERS, mapCommandBlocks } from '../../integration/documentation/pages.ts';

/** Runs an unchanged block of commands in a copy of the repository and a separate network namespace. */
interface CommandRun {
  /** The folder that the page names; by default the root of the repository. */
  readonly folder?: string;
  /** Commands that run before the block. */
  readonly before?: string;
  /** The test kills a block when its output matches. Without a pattern, the block must exit with 0. */
  readonly until?: RegExp;
  /** Commands that check the result. */
  readonly after?: string;
  /** Programs that not every machine has. */
  readonly needs?: readonly string[];
}

/** Retries a command for 30 s. After that, the next command fails. */
const retryUntilSuccess = (command: string): string =>
  `for _ in {1..300}; do ${command} >/dev/null && break; sleep 0.1; done`;

const DEMO = `npm run --silent compile:simulator
node build/test/simulator/demo.js --web.listen-address=127.0.0.1:0 &
${retryUntilSuccess('curl --silent http://localhost:20140/-/faults')}`;

/** The demo at the address in the README. */
const RUNNING_DEMO = `npm run --silent compile:simulator
node build/test/simulator/demo.js &
${retryUntilSuccess('curl --fail --silent http://localhost:20928/-/ready')}`;

const MAIN_IS_SLOW = `curl --silent 'http://localhost:20928/service-codes/?service_code=TESTING' | grep --fixed-strings 'slow since'`;

/** The simulator, and the secret and configuration file that the README describes. */
const CONFIGURED = `npm run --silent compile:simulator
node build/test/simulator/main.js --users=20 &
mount -t tmpfs none /run && mkdir /run/secrets && printf abc > /run/secrets/testing
printf 'upstream:\\n  base_url: http://127.0.0.1:20140\\nservice_codes:\\n  - service_code: TESTING\\n    secret_file: /run/secrets/testing\\n' > config.yml
${retryUntilSuccess('curl --silent http://127.0.0.1:20140/')}`;

/** Storage of Prometheus in memory, so that no file remains on the machine. */
const STORAGE = 'mkdir -p /tmp/xvs-prometheus && mount -t tmpfs none /tmp/xvs-prometheus';

/** The blocks of commands that this test runs, by the page and the first line. */
const COMMAND_RUNS: ReadonlyMap<string, CommandRun> = new Map<string, CommandRun>([
  ['README.md: npm run demo', { until: /Press Ctrl-C to stop both/ }],
  [
    'README.md: curl -X PUT http://127.0.0.1:20140/-/faults -d \'{"fault":"slow_ingest","name":"main"}\'',
    {
      before: RUNNING_DEMO,
      after: [...Array.from({ length: 4 }, () => retryUntilSuccess(MAIN_IS_SLOW)), MAIN_IS_SLOW].join('\n'),
    },
  ],
  [
    'README.md: prometheus --config.file=deploy/prometheus/prometheus.yml --storage.tsdb.path=/tmp/xvs-prometheus --web.listen-address=:9190',
    { before: STORAGE, until: /Server is ready to receive web requests/, needs: ['prometheus'] },
  ],
  [
    'README.md: xvs-exporter --config.file=config.yml --config.check',
    { before: `xvs-exporter() { node dist/main.js "$@"; }\n${CONFIGURED}`, until: /Listening/ },
  ],
  [
    'deploy/alertmanager/README.md: amtool check-config alertmanager.yml',
    { folder: 'deploy/alertmanager', needs: ['amtool'] },
  ],
  [
    'deploy/compose/README.md: curl -X PUT http://localhost:20140/-/faults -d \'{"fault":"ret","value":1001}\'',
    {
      before: DEMO,
      after: `curl --silent http://localhost:20140/-/faults | grep --fixed-strings '"faults":[]'`,
    },
  ],
  [
    'deploy/prometheus/README.md: promtool check rules --lint=all --lint-fatal rules/*.yml',
    // One file of tests: test/deploy/prometheus/promtool runs all of them.
    {
      before: 'find deploy/prometheus/tests -name "*.yml" ! -name labels.yml -delete',
      folder: 'deploy/prometheus',
      needs: ['promtool'],
    },
  ],
  [
    'docs/service-codes.md: curl --fail --silent --show-error http://localhost:20928/sd',
    {
      before: RUNNING_DEMO,
      after: `curl --silent http://localhost:20928/sd | grep --fixed-strings '"__param_service_code":"TESTING"'`,
    },
  ],
  [
    'docs/service-codes.md: promtool check service-discovery --timeout=5s deploy/prometheus/prometheus-sd.yml xvs-exporter',
    {
      before: RUNNING_DEMO,
      after:
        'promtool check service-discovery --timeout=5s deploy/prometheus/prometheus-sd.yml xvs-exporter | grep \'"instance": "localhost:20928"\'',
      needs: ['promtool'],
    },
  ],
  [
    'docs/service-codes.md: prometheus --config.file=deploy/prometheus/prometheus-sd.yml --storage.tsdb.path=/tmp/xvs-prometheus',
    { before: STORAGE, until: /Server is ready to receive web requests/, needs: ['prometheus'] },
  ],
]);

const blocks = mapCommandBlocks();

for (const [name, { folder = '.', before = '', until, after = '', needs = [] }] of COMMAND_RUNS) {
  test(`these commands work as written: ${name}`, async (t) => {
    const block = blocks.get(name);
    assert.ok(block !== undefined, `Expected a page with this block, found none`);
    if (!canIsolate(t) || !needs.every((program) => isInstalled(t, program))) return;
    using copy = copyRepository();
    const script = ['ip link set lo up', before, `cd ${folder}`, block, after].join('\n');
    await using program = runIsolated(script, copy.path);
    if (until === undefined) {
      assert.equal(await program.exitCode, 0, program.stdout + program.stderr);
    } else {
      await program.waitForOutput(until);
      // Kills the namespace with all its processes.
      program.signal('SIGKILL');
      await program.exitCode;
    }
  });
}

const ISOLATION = ['--map-root-user', '--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];

/**
 * Runs a script in separate namespaces, so that all ports are free, and mounts and processes end with the
 * script.
 */
function runIsolated(script: string, folder: string): Program {
  const args = [...ISOLATION, 'bash', '-euo', 'pipefail', '-c', script];
  return new Program('unshare', args, { HOME: folder, TMPDIR: folder, NO_UPDATE_NOTIFIER: '1' }, folder);
}

function canIsolate(t: TestContext): boolean {
  if (!isInstalled(t, 'unshare')) return false;
  const { status, stderr } = spawnSync('unshare', [...ISOLATION, 'ip', 'link', 'set', 'lo', 'up'], {
    encoding: 'utf8',
  });
  if (status === 0) return true;
  assert.notEqual(process.env['CI'], 'true', `Expected to create a network namespace, found ${stderr}`);
  t.diagnostic(`NOT CHECKED: no network namespace (${stderr.trim()})`);
  return false;
}

/**
 * Copies the files of a built clone that the commands need, without its tests, and links the dependencies.
 */
function copyRepository(): TemporaryFolder {
  const copy = new TemporaryFolder();
  const isCopied = (name: string): boolean =>
    name === 'dist' || (name !== 'test' && !GENERATED_FOLDERS.has(name));
  const names = listRepositoryFolder().filter(isCopied);
  for (const name of [...names, 'test/simulator'])
    cpSync(repositoryPath(name), copy.at(name), { recursive: true });
  symlinkSync(repositoryPath('node_modules'), copy.at('node_modules'));
  return copy;
}
