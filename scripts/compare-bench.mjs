// Holds one run of the benchmark against another: `node scripts/compare-bench.mjs before.json after.json`, each
// from `npm run --silent bench -- --json`. Ratios to the reference of the same run are compared, as machines
// differ in speed, and one machine from hour to hour.
import { readFileSync } from 'node:fs';

const [before, after] = process.argv.slice(2);
if (before === undefined || after === undefined) {
  console.error('Expected two files with the output of npm run --silent bench -- --json');
  process.exitCode = 2;
} else {
  const read = (path) => JSON.parse(readFileSync(path, 'utf8')).comparisons;
  const known = new Map(read(before).map((comparison) => [comparison.name, comparison.ratio]));
  for (const { name, ratio } of read(after)) {
    const old = known.get(name);
    const change = old === undefined ? 'new' : `${((ratio / old - 1) * 100).toFixed(0)} %`.padStart(6);
    console.log(`${change}  ${ratio.toFixed(1).padStart(7)} ×  ${name}`);
  }
}
