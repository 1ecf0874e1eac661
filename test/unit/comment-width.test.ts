import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { readRepositoryFile, repositoryPath } from '../support/repository.ts';

const FOLDERS = ['src', 'test', 'scripts', 'deploy/grafana'];
/** As `printWidth` of Prettier, which does not wrap comments. */
const MAX_WIDTH = 110;
const COMMENT_LINE = /^\s*(?:\/\/|\/\*|\*)/;

test(`no line of a comment has more than ${MAX_WIDTH} characters`, () => {
  const paths = FOLDERS.flatMap((folder) =>
    readdirSync(repositoryPath(folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ts|mjs)$/.test(name))
      .map((name) => `${folder}/${name}`),
  );
  const long = paths.flatMap((path) =>
    readRepositoryFile(path)
      .split('\n')
      .flatMap((line, index) =>
        COMMENT_LINE.test(line) && line.length > MAX_WIDTH ? [`${path}:${index + 1}`] : [],
      ),
  );
  assert.deepEqual(long, []);
});
