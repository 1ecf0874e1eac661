// Runs compiled test files with the test runner of Node.js: several at a time, the slowest ones first.
//
//   node scripts/test.mjs                  every file, except those of the long suites
//   node scripts/test.mjs --suite=SUITE    the files of one suite, or of all long suites with `--suite=long`
//   node scripts/test.mjs WORD…            every file whose path contains one of the words, long suites included
//
// This is a script because Node 20 takes neither globs nor an order of files on its command line.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiled = join(root, 'build/test');

/** Suites that `npm test` leaves out, by paths of their files. `npm run test:long` runs all of them. */
const LONG_SUITES = {
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

/** Files that start no other process and finish within a second or two: what `npm run test:unit` runs. */
const UNIT = /^(?!bench|deploy|documentation|e2e|fuzz|integration|package|soak)/;
const NOT_UNIT =
  /^(?:listing\/json-corpus|sharding\/rendezvous|simulator\/(?:histories|memory)|state\/(?:crash-safety|state-file)|web\/(?:server-limits|security\/web-configuration-file\.|status-page\/browser))/;

/** Environment variables of a suite, unless they are set. */
const THOROUGH = { XVS_FUZZ_RUNS: '8', XVS_ATTACK_SECONDS: '15', LEDGER_MODEL_STEPS: '100000' };
const ENVIRONMENTS = {
  unit: { XVS_FUZZ_RUNS: '0.1', LEDGER_MODEL_STEPS: '1000' },
  fuzz: THOROUGH,
  long: THOROUGH,
};

/** Prefixes of the paths of slow files, the slowest first. These start first, so that no core idles at the end. */
const SLOWEST = [
  'deploy/prometheus/promtool',
  'web/status-page/browser',
  'e2e/alerts',
  'documentation/commands',
  'deploy/prometheus/',
  'integration/fault-matrix',
  'e2e/code-files',
  'e2e/prometheus',
  'e2e/discovery',
  'e2e/scrape-mode-prometheus',
  'soak/',
  'e2e/',
  'state/crash-safety',
  'simulator/',
  'listing/',
  'package/',
  'integration/',
  'fuzz/',
  'bench/',
  'deploy/helm/',
  'deploy/',
];

const isLong = (file) => Object.values(LONG_SUITES).some((files) => files.test(file));
const isUnit = (file) => UNIT.test(file) && !NOT_UNIT.test(file);

/** Selects files by suite, or the files of `npm test` if neither a suite nor words are given. */
function isInSuite(file, suite, words) {
  if (suite === 'unit') return isUnit(file);
  if (suite === 'long') return isLong(file) || FUZZ.test(file);
  if (suite === 'fuzz') return FUZZ.test(file);
  if (suite !== undefined) return LONG_SUITES[suite].test(file);
  return words.length > 0 || !isLong(file);
}

function rankOf(file) {
  const rank = SLOWEST.findIndex((prefix) => file.startsWith(prefix));
  return rank === -1 ? SLOWEST.length : rank;
}

/** Properties that leave the number of runs to fast-check run 20 times instead of 100. */
const BUNDLE_HEAD = `import { describe } from 'node:test';
import fc from 'fast-check';
fc.configureGlobal({ numRuns: 20 });
`;

/**
 * Writes two files per core, each of which imports its share of the test files, and returns their paths. Starting a process and
 * loading the libraries costs 0.25 s per file, more than most unit tests take.
 */
function bundle(files) {
  const folder = join(root, 'build/unit');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const count = Math.min(files.length, availableParallelism() * 2);
  return Array.from({ length: count }, (_, index) => {
    const share = files.filter((_file, position) => position % count === index);
    const suites = share.map((file) => {
      const url = JSON.stringify(pathToFileURL(join(compiled, file)));
      return `describe(${JSON.stringify(file)}, () => import(${url}));\n`;
    });
    const path = join(folder, `unit-${index + 1}.mjs`);
    writeFileSync(path, BUNDLE_HEAD + suites.join(''));
    return path;
  });
}

const { values, positionals: words } = parseArgs({
  options: { suite: { type: 'string' } },
  allowPositionals: true,
});
const suites = ['unit', 'long', 'fuzz', ...Object.keys(LONG_SUITES)];
const files = readdirSync(compiled, { recursive: true })
  .filter((file) => file.endsWith('.test.js') && existsSync(join(root, 'test', file.replace(/js$/, 'ts'))))
  .filter((file) => isInSuite(file, values.suite, words))
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .toSorted()
  .toSorted((a, b) => rankOf(a) - rankOf(b));

if (values.suite !== undefined && !suites.includes(values.suite)) {
  console.error(`Expected --suite to be one of ${suites.join(', ')}, found ${values.suite}`);
  process.exitCode = 2;
} else if (files.length === 0) {
  console.error(`Expected test files in build/test for [${process.argv.slice(2).join(' ')}], found none`);
  process.exitCode = 1;
} else {
  for (const [name, value] of Object.entries(ENVIRONMENTS[values.suite] ?? {})) process.env[name] ??= value;
  const isBundled = values.suite === 'unit' && words.length === 0;
  run({
    files: isBundled ? bundle(files) : files.map((file) => join(compiled, file)),
    // Many files wait for timers of real programs, and leave a core to others meanwhile.
    concurrency: availableParallelism() * 2,
  })
    .on('test:fail', () => {
      process.exitCode = 1;
    })
    .compose(new spec())
    .pipe(process.stdout);
}
