// Holds one run of the benchmark against another: `node scripts/compare-bench.mjs before.json after.json`, each
// from `npm run --silent bench -- --json`. What is compared is what the goals are set for: mostly ratios to the
// reference of the same run, as machines differ in speed, and one machine from hour to hour.
import { readFileSync } from 'node:fs';

const [before, after] = process.argv.slice(2);
if (before === undefined || after === undefined) {
  console.error('Expected two files with the output of npm run --silent bench -- --json');
  process.exitCode = 2;
} else {
  const read = (path) => JSON.parse(readFileSync(path, 'utf8')).comparisons;
  const keyOf = ({ name, reference = '' }) => `${name}\n${reference}`;
  const known = new Map(read(before).map((comparison) => [keyOf(comparison), comparison]));
  for (const comparison of read(after)) console.log(lineOf(comparison, known.get(keyOf(comparison))));
}

function lineOf(comparison, old) {
  const { name, reference, figure, figureUnit, isMet } = comparison;
  const met = isMet === undefined ? '' : isMet ? 'met' : 'not met';
  const compared = reference === undefined ? name : `${name}, to ${reference}`;
  return [
    changeOf(comparison, old).padStart(14),
    (old === undefined ? '' : old.figure.toFixed(2)).padStart(9),
    `${figure.toFixed(2)} ${figureUnit}`.padStart(14),
    met.padEnd(7),
    compared,
  ].join('  ');
}

/** By how much of itself a figure is better or worse. One that can be negative has no such share. */
function changeOf({ figure, direction }, old) {
  if (old === undefined) return 'new';
  if (figure <= 0 || old.figure <= 0) return figure === old.figure ? 'same' : 'differs';
  const share = direction === 'at most' ? old.figure / figure - 1 : figure / old.figure - 1;
  const percent = Math.round(share * 100);
  if (percent === 0) return 'same';
  return `${Math.abs(percent)} % ${percent > 0 ? 'better' : 'worse'}`;
}
