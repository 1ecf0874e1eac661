// Runs compiled test files with the test runner of Node.js. The command line of Node 20 supports neither
// globs nor shared processes.
//
//   node scripts/test.mjs                  the files of test/unit, test/integration and test/e2e
//   node scripts/test.mjs --suite=SUITE    the files of a suite, see below
//   node scripts/test.mjs WORD…            the files whose path contains one of the words, test/long included
//   node scripts/test.mjs --reader=debug   the same with the debug reader, which checks memory accesses
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join, relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { watchTestFiles } from './watch-test-files.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiled = join(root, 'build/test');

/** Folders of a suite, and the variables that its tests read. */
const SUITES = {
  default: { folders: ['e2e/', 'integration/', 'unit/'] },
  unit: { folders: ['unit/'], variables: { XVS_FUZZ_RUNS: '0.1' } },
  /** What depends on the version of Node.js. */
  program: { folders: ['e2e/program/', 'e2e/attack/', 'unit/'], variables: { XVS_FUZZ_RUNS: '0.1' } },
  attack: { folders: ['e2e/attack/', 'long/attack/'], variables: { XVS_ATTACK_ROUNDS: '25' } },
  long: {
    folders: ['long/', 'integration/fuzz/', 'e2e/program/kills'],
    variables: { XVS_FUZZ_RUNS: '8', XVS_KILLS: '100' },
  },
  words: { folders: [''] },
};

/** The files of these folders take longest: they start first, so that no core is idle at the end. */
const SLOW_FOLDERS = ['e2e/deploy/', 'e2e/prometheus/', 'long/documentation/', 'e2e/', 'long/'];

/** Their tests need 127.0.0.2 and /proc. */
const LINUX_FOLDERS = ['e2e/attack/', 'long/attack/'];

/**
 * Number of concurrent test processes. It exceeds the number of cores, because most processes wait for
 * timers.
 */
const PROCESSES = availableParallelism() * 3;

/**
 * Number of processes that unit tests share. Starting one and loading the libraries takes 0.3 s of CPU time,
 * more than most files take.
 */
const BUNDLES = availableParallelism() * 2;

/** Longer than any file takes that does not hang; the waits of a test end after half of it. */
const FILE_LIMIT_MS = 30 * 60_000;

/** Runs of the properties of unit tests that set no number themselves; the default of fast-check is 100. */
const UNIT_RUNS = 20;

function listFiles({ folders }, words) {
  return readdirSync(compiled, { recursive: true })
    .filter((file) => file.endsWith('.test.js') && existsSync(join(root, 'test', file.replace(/js$/, 'ts'))))
    .filter((file) => folders.some((folder) => file.startsWith(folder)))
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
    .toSorted()
    .toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Prints the files that only Linux can run, and removes them elsewhere. */
function leaveOutLinuxFiles(files) {
  if (process.platform === 'linux') return files;
  const isLeftOut = (file) => LINUX_FOLDERS.some((folder) => file.startsWith(folder));
  for (const file of files.filter(isLeftOut)) console.log(`NOT CHECKED: ${file}, which needs Linux`);
  return files.filter((file) => !isLeftOut(file));
}

function rankOf(file) {
  const rank = SLOW_FOLDERS.findIndex((folder) => file.startsWith(folder));
  return rank === -1 ? SLOW_FOLDERS.length : rank;
}

/** Random tests repeat the same inputs, unless `XVS_TEST_SEED` is another number or `random`. */
function setSeed() {
  const { XVS_TEST_SEED: text = '1' } = process.env;
  const seed = text === 'random' ? randomInt(2 ** 31) : Number(text);
  if (!Number.isSafeInteger(seed))
    throw new RangeError(`XVS_TEST_SEED: expected an integer or "random", found "${text}"`);
  process.env.XVS_TEST_SEED = String(seed);
  console.log(`Random tests use XVS_TEST_SEED=${seed}`);
  return seed;
}

/**
 * Writes files that each import a share of the test files, and returns their paths. They are removed at the
 * end.
 */
function bundle(files, fastCheckOptions) {
  // Several runs may share the folder `build`.
  const folder = join(root, `build/bundles/${process.pid}`);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(folder, { recursive: true });
  const count = Math.min(files.length, BUNDLES);
  return Array.from({ length: count }, (_, index) => {
    const imports = files
      .filter((_file, position) => position % count === index)
      .map((file) => {
        const url = JSON.stringify(pathToFileURL(join(compiled, file)));
        return `describe(${JSON.stringify(file)}, () => import(${url}));\n`;
      });
    const path = join(folder, `bundle-${index + 1}.mjs`);
    writeFileSync(
      path,
      `import { describe } from 'node:test';\nimport fc from 'fast-check';\nfc.configureGlobal(${JSON.stringify(fastCheckOptions)});\n${imports.join('')}`,
    );
    return path;
  });
}

/**
 * Replaces the reader's module, in tests and in the programs that they start, with its debug build until this
 * process exits.
 */
function useDebugReader() {
  const debugBuild = readFileSync(join(root, 'build/src/json-columns/reader.debug.wasm'));
  for (const folder of ['build/src', 'dist']) {
    const path = join(root, folder, 'json-columns/reader.wasm');
    if (!existsSync(path)) continue;
    const releaseBuild = readFileSync(path);
    writeFileSync(path, debugBuild);
    // If this process is killed, the next build replaces a file that is older than its sources.
    utimesSync(path, 0, 0);
    process.once('exit', () => writeFileSync(path, releaseBuild));
  }
}

/** Ends with a message and code 2. */
function fail(message) {
  console.error(message);
  process.exit(2);
}

const { values, positionals: words } = parseArgs({
  options: { suite: { type: 'string' }, reader: { type: 'string' } },
  allowPositionals: true,
});
const suite = SUITES[values.suite ?? (words.length > 0 ? 'words' : 'default')];
if (suite === undefined)
  fail(`Expected --suite to be one of ${Object.keys(SUITES).join(', ')}, found ${values.suite}`);
if (![undefined, 'debug'].includes(values.reader))
  fail(`Expected --reader to be debug, found ${values.reader}`);
const files = leaveOutLinuxFiles(listFiles(suite, words));
if (files.length === 0)
  fail(`Expected test files in build/test for [${process.argv.slice(2).join(' ')}], found none`);

for (const [name, value] of Object.entries(suite.variables ?? {})) process.env[name] ??= value;
if (values.reader === 'debug') useDebugReader();
const seed = setSeed();
const isUnit = (file) => file.startsWith('unit/');
const separate = files.filter((file) => !isUnit(file)).map((file) => join(compiled, file));
const bundles = bundle(files.filter(isUnit), { seed, numRuns: UNIT_RUNS });
const all = [...separate, ...bundles];
watchTestFiles({
  count: all.length,
  limitMs: FILE_LIMIT_MS,
  formatName: (file) => (file.startsWith(compiled) ? relative(compiled, file) : basename(file)),
});
run({ files: all, concurrency: PROCESSES })
  .on('test:fail', () => {
    process.exitCode = 1;
  })
  .compose(new spec())
  .pipe(process.stdout);
