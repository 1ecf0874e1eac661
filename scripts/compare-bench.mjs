// Compares two runs of the benchmark: `node scripts/compare-bench.mjs before.json after.json`, both written by
// `npm run --silent bench -- --json`. It compares the values that have goals. Most are ratios to the reference of the
// same run, because machines differ in speed, and one machine varies from hour to hour.
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

/** Formats the relative change of a value. A value that can be negative has none. */
function changeOf({ figure, direction }, old) {
  if (old === undefined) return 'new';
  if (figure <= 0 || old.figure <= 0) return figure === old.figure ? 'same' : 'differs';
  const share = direction === 'at most' ? old.figure / figure - 1 : figure / old.figure - 1;
  const percent = Math.round(share * 100);
  if (percent === 0) return 'same';
  return `${Math.abs(percent)} % ${percent > 0 ? 'better' : 'worse'}`;
}
