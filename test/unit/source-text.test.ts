import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { readRepositoryFile, repositoryPath } from '../support/repository.ts';

const FOLDERS = ['src', 'test', 'scripts', 'deploy/grafana'];
/** As `printWidth` of Prettier, which does not wrap comments. */
const MAX_WIDTH = 110;
/** Other words for an increase, a new row, waiting values, to evaluate, to confirm and a top task. */
const OTHER_WORDS =
  /\b(?:[Bb]orn|[Bb]irths?\b|[Ss]treak|[Gg]ain|[Bb]eliev|[Jj]udg|[Nn]otable)|[a-z](?:Born|Birth|Streak|Gain|Believ|Judg|Notable)|BELIEV|NOTABLE/;
const COMMENT_LINE = /^\s*(?:\/\/|\/\*|\*)/;

test(`no line of a comment has more than ${MAX_WIDTH} characters`, () => {
  const isLong = (line: string): boolean => COMMENT_LINE.test(line) && line.length > MAX_WIDTH;
  assert.deepEqual(findLines(FOLDERS, isLong), []);
});

test('the source has the words of the field: increase, new, waiting values, evaluate, confirm, top tasks', () => {
  assert.deepEqual(
    findLines(['src'], (line) => OTHER_WORDS.test(line)),
    [],
  );
  for (const line of ['gainedBytes', 'a streak is believed', '#bornMs', 'NotableTask', 'judges'])
    assert.match(line, OTHER_WORDS);
  assert.doesNotMatch('again and against, EAGAIN', OTHER_WORDS);
});

/** Lists the places of the lines of code in some folders. */
function findLines(folders: readonly string[], isMeant: (line: string) => boolean): readonly string[] {
  const paths = folders.flatMap((folder) =>
    readdirSync(repositoryPath(folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ts|mjs)$/.test(name))
      .map((name) => `${folder}/${name}`),
  );
  return paths.flatMap((path) =>
    readRepositoryFile(path)
      .split('\n')
      .flatMap((line, index) => (isMeant(line) ? [`${path}:${index + 1}`] : [])),
  );
}
