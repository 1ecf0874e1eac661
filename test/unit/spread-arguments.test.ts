import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { readRepositoryFile, repositoryPath } from '../support/repository.ts';

/** Functions that take any number of arguments. TypeScript lets others take tuples alone. */
const VARIADIC = /\b(?:Math\.(?:max|min|hypot)|push|unshift|splice|concat|of|fromCharCode|fromCodePoint)\(/;
/** Whole arguments before the spread one. */
const BEFORE = /(?:(?:[^()[\]{}]|\([^()]*\)|\[[^[\]]*\])*,)?\s*/;
const SPREAD = new RegExp(`${VARIADIC.source}${BEFORE.source}\\.\\.\\.`, 'g');
const IS_BOUNDED = /\/\/ Bounded: .*\n$/;

/** A call with more than about 125,000 arguments throws a RangeError, which ends the process. */
function findSpreads(text: string): readonly string[] {
  return [...text.matchAll(SPREAD)]
    .filter(({ index }) => !IS_BOUNDED.test(text.slice(0, text.lastIndexOf('\n', index) + 1)))
    .map(([call]) => call);
}

test('spread into calls is found, unless the line before says why it is bounded', () => {
  for (const [text, count] of [
    ['// Bounded: at most 20.\nMath.max(0, ...list);', 0],
    ['// Bounded: at most 20.\n\nMath.max(0, ...list);', 1],
    ['Math.max(0, f(a, b), ...list); list.push(\n  ...others,\n)', 2],
    ['list.push({ ...one, a }); list.push([...one])', 0],
  ] as const)
    assert.equal(findSpreads(text).length, count, text);
});

test('no call takes one argument for each record', () => {
  const paths = readdirSync(repositoryPath('src'), { recursive: true, encoding: 'utf8' });
  for (const path of paths.filter((name) => name.endsWith('.ts')))
    assert.deepEqual(findSpreads(readRepositoryFile(`src/${path}`)), [], `src/${path}`);
});
