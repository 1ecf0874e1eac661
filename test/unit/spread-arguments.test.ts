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

test('no call takes one argument for each record', () => {
  const paths = readdirSync(repositoryPath('src'), { recursive: true, encoding: 'utf8' });
  for (const path of paths.filter((name) => name.endsWith('.ts')))
    assert.deepEqual(findSpreads(readRepositoryFile(`src/${path}`)), [], `src/${path}`);
});
