// Runs compiled test files with the test runner of Node.js: several at a time, the slowest ones first.
//
//   node scripts/test.mjs                  every file, except those of the long suites
//   node scripts/test.mjs --suite=SUITE    the files of one suite, or of all long suites with `--suite=long`
//   node scripts/test.mjs WORD…            every file whose path contains one of the words, long suites included
//   node scripts/test.mjs --reader=debug   the same with the debug build of the reader, which checks each memory access
//
// This is a script because the command line of Node 20 supports neither globs nor an order of files.
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiled = join(root, 'build/test');

/** Suites that `npm test` excludes, by paths of their files. `npm run test:long` runs all of them. */
const LONG_SUITES = {
  combined: /^attack\/combined/,
  bench: /^bench\//,
  charts: /^deploy\/(?:helm\/values|kubernetes\/kustomize)/,
  rules: /^deploy\/prometheus\/(?:adapted-rules|static-labels|discovered-targets)/,
  commands: /^documentation\/commands/,
  dashboards: /^e2e\/dashboards/,
  soak: /^soak\//,
  package: /^package\/package/,
};

/** Files of `npm test` that `npm run test:fuzz` runs for longer. */
const FUZZ = /^(?:fuzz\/|integration\/cardinality-attack|tally\/ledger-model)/;

/** Files of `npm test` that `npm run attack` runs for longer. */
const ATTACK = /^attack\/(?!combined)/;

/** The tests of `npm run test:unit`: those of the folders of `src/`. */
const UNIT = /^(?!attack|bench|deploy|documentation|e2e|fuzz|integration|package|soak)/;

/**
 * Files that need a separate process: they take long, measure the heap, or wait for programs. All others share
 * processes, because starting one and loading the libraries takes 0.3 s of CPU time, more than most files take.
 */
const SEPARATE =
  /^(?:attack|bench|deploy\/(?:alertmanager\/outage|compose\/full-stack|helm\/values|kubernetes\/kustomize|prometheus\/(?:adapted|discovered|promtool|static))|documentation\/commands|e2e|fuzz|integration\/(?:cardinality|fault|scrape-mode)|listing\/json-corpus|package\/package|simulator\/(?:histories|memory)|soak|state\/(?:crash-safety|damaged-journal|state-file)|web\/(?:server-limits|security\/web-configuration-file\.|status-page\/browser))/;

/**
 * The files that `.ci/run` repeats on the Node.js version of the image, in addition to those of `unit`: they use network, file
 * system and processes of Node.js. Other files only compute, or test other programs.
 */
const RUNTIME =
  /^(?:attack\/(?!combined)|e2e\/(?:program|reload|shutdown|terminal|web-security)|integration\/(?!cardinality)|simulator\/memory|state\/|web\/(?!status-page\/browser))/;

/** Environment variables of a suite, unless they are set. */
const THOROUGH = { XVS_FUZZ_RUNS: '8', XVS_ATTACK_POLLS: '40', LEDGER_MODEL_STEPS: '100000' };
const QUICK = { XVS_FUZZ_RUNS: '0.1', LEDGER_MODEL_STEPS: '1000' };
const ENVIRONMENTS = {
  attack: { XVS_ATTACK_ROUNDS: '25' },
  unit: QUICK,
  runtime: QUICK,
  fuzz: THOROUGH,
  long: THOROUGH,
};

/** Runs of properties that set no number themselves; the default of fast-check is 100. */
const QUICK_RUNS = 20;

/** Number of concurrent test processes. It exceeds the number of cores, because most processes wait for timers. */
const PROCESSES = availableParallelism() * 3;

/** Number of processes that small files share. */
const BUNDLES = availableParallelism() * 2;

/** Prefixes of the paths of slow files, the slowest first. They start first, so that no core is idle at the end. */
const SLOWEST = [
  'deploy/prometheus/',
  'e2e/alerts',
  'documentation/commands',
  'e2e/dashboards',
  'e2e/scrape-mode-prometheus',
  'e2e/prometheus',
  'integration/fault-matrix-transfers',
  'e2e/discovery',
  'integration/fault-matrix',
  'web/status-page/browser',
  'e2e/',
  'state/',
  'soak/',
  'package/',
  'bench/',
  'integration/',
];

const isLong = (file) => Object.values(LONG_SUITES).some((files) => files.test(file));
const isUnit = (file) => UNIT.test(file) && !SEPARATE.test(file);

/** Selects files by suite, or the files of `npm test` if neither a suite nor words are given. */
function isInSuite(file, suite, words) {
  if (suite === 'unit') return isUnit(file);
  if (suite === 'runtime') return isUnit(file) || RUNTIME.test(file);
  if (suite === 'long') return isLong(file) || FUZZ.test(file);
  if (suite === 'fuzz') return FUZZ.test(file);
  if (suite === 'attack') return ATTACK.test(file);
  if (suite !== undefined) return LONG_SUITES[suite].test(file);
  return words.length > 0 || !isLong(file);
}

function rankOf(file) {
  const rank = SLOWEST.findIndex((prefix) => file.startsWith(prefix));
  return rank === -1 ? SLOWEST.length : rank;
}

/**
 * Random tests repeat the same inputs, unless `XVS_TEST_SEED` is another number or `random`. Sets the variables that the
 * tests read.
 */
function setSeed() {
  const { XVS_TEST_SEED: text = '1' } = process.env;
  const seed = text === 'random' ? randomInt(2 ** 31) : Number(text);
  if (!Number.isSafeInteger(seed))
    throw new RangeError(`XVS_TEST_SEED: expected an integer or "random", found "${text}"`);
  process.env.XVS_TEST_SEED = String(seed);
  process.env.LEDGER_MODEL_SEED ??= String(seed);
  console.log(`Random tests use XVS_TEST_SEED=${seed}`);
  return seed;
}

/** Writes files that each import a share of the test files, and returns their paths. They are removed at the end. */
function bundle(files, fastCheckOptions) {
  // Several runs may share the folder `build`.
  const folder = join(root, `build/bundles/${process.pid}`);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(folder, { recursive: true });
  const count = Math.min(files.length, BUNDLES);
  return Array.from({ length: count }, (_, index) => {
    const share = files.filter((_file, position) => position % count === index);
    const suites = share.map((file) => {
      const url = JSON.stringify(pathToFileURL(join(compiled, file)));
      return `describe(${JSON.stringify(file)}, () => import(${url}));\n`;
    });
    const head = [
      "import { describe } from 'node:test';",
      "import fc from 'fast-check';",
      `fc.configureGlobal(${JSON.stringify(fastCheckOptions)});`,
      '',
    ].join('\n');
    const path = join(folder, `bundle-${index + 1}.mjs`);
    writeFileSync(path, head + suites.join(''));
    return path;
  });
}

/** The modules that tests and the programs that they start read listings with. */
const READERS = ['build/src/listing/reader.wasm', 'dist/listing/reader.wasm'].map((path) => join(root, path));

/** Replaces the reader's module with its debug build until this process exits. */
function useDebugReader() {
  const debugBuild = readFileSync(join(root, 'build/src/listing/reader.debug.wasm'));
  for (const path of READERS.filter((reader) => existsSync(reader))) {
    const releaseBuild = readFileSync(path);
    writeFileSync(path, debugBuild);
    // If this process is killed, the next build replaces a file that is older than its sources.
    utimesSync(path, 0, 0);
    process.once('exit', () => writeFileSync(path, releaseBuild));
  }
}

const { values, positionals: words } = parseArgs({
  options: { suite: { type: 'string' }, reader: { type: 'string' } },
  allowPositionals: true,
});
const suites = ['unit', 'runtime', 'long', 'fuzz', 'attack', ...Object.keys(LONG_SUITES)];
const files = readdirSync(compiled, { recursive: true })
  .filter((file) => file.endsWith('.test.js') && existsSync(join(root, 'test', file.replace(/js$/, 'ts'))))
  .filter((file) => isInSuite(file, values.suite, words))
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .toSorted()
  .toSorted((a, b) => rankOf(a) - rankOf(b));

if (values.suite !== undefined && !suites.includes(values.suite)) {
  console.error(`Expected --suite to be one of ${suites.join(', ')}, found ${values.suite}`);
  process.exitCode = 2;
} else if (![undefined, 'debug'].includes(values.reader)) {
  console.error(`Expected --reader to be debug, found ${values.reader}`);
  process.exitCode = 2;
} else if (files.length === 0) {
  console.error(`Expected test files in build/test for [${process.argv.slice(2).join(' ')}], found none`);
  process.exitCode = 1;
} else {
  for (const [name, value] of Object.entries(ENVIRONMENTS[values.suite] ?? {})) process.env[name] ??= value;
  if (values.reader === 'debug') useDebugReader();
  const seed = setSeed();
  const separate = files.filter((file) => SEPARATE.test(file)).map((file) => join(compiled, file));
  const shared = files.filter((file) => !SEPARATE.test(file));
  const isQuick = ENVIRONMENTS[values.suite] === QUICK;
  const bundles = bundle(shared, { seed, ...(isQuick && { numRuns: QUICK_RUNS }) });
  run({ files: [...separate, ...bundles], concurrency: PROCESSES })
    .on('test:fail', () => {
      process.exitCode = 1;
    })
    .compose(new spec())
    .pipe(process.stdout);
}
