import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { repositoryPath, readRepositoryFile } from '../../support/repository.ts';
import { listAnchors, listPages, readProse } from './pages.ts';

interface Link {
  readonly page: string;
  /** From the top of the repository. */
  readonly path: string;
  readonly anchor: string | undefined;
}

/** Links that lead to a place in this repository. */
function listLocalLinks(page: string): readonly Link[] {
  const found = readProse(page).matchAll(/\]\((?!https?:|mailto:)([^)\s]*)\)/g);
  return [...found].map(([, target = '']) => {
    const [path = '', anchor] = target.split('#');
    return { page, path: path === '' ? page : join(dirname(page), path), anchor };
  });
}

const links = listPages().flatMap(listLocalLinks);

test('the documentation has pages and links', () => {
  assert.ok(listPages().length > 12);
  assert.ok(links.length > 60);
});

test('every link within this repository leads to a file or folder', () => {
  const lost = links.filter(({ path }) => !existsSync(repositoryPath(path)));
  assert.deepEqual(lost, []);
});

test('every link to a heading finds it', () => {
  const anchored = links.filter(({ anchor, path }) => anchor !== undefined && path.endsWith('.md'));
  assert.ok(anchored.length > 10);
  assert.deepEqual(
    anchored.filter(({ path, anchor = '' }) => !listAnchors(path).has(anchor)),
    [],
  );
});

test('the paths in architecture.md and CONTRIBUTING.md exist, and the table has every folder of src', () => {
  const text = readProse('docs/architecture.md') + readProse('CONTRIBUTING.md');
  const named = [
    ...text.matchAll(/`((?:src|test|deploy|config|docs|scripts|man|\.ci)(?:\/[\w./-]*)?)`/g),
  ].map(([, path = '']) => path);
  assert.ok(named.length > 20);
  assert.deepEqual(
    named.filter((path) => !existsSync(repositoryPath(path))),
    [],
  );
  const folders = readdirSync(repositoryPath('src'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  assert.deepEqual(
    folders.map(({ name }) => `src/${name}/`).filter((path) => !named.includes(path)),
    [],
  );
});

test('every npm script that a page names exists', () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(readRepositoryFile('package.json'));
  for (const page of listPages()) {
    const named = [
      ...readRepositoryFile(page).matchAll(/npm (?:run (?:--silent )?([\w:-]+)|(test|start|pack)\b)/g),
    ];
    for (const [, script, short = ''] of named) {
      assert.ok(short === 'pack' || (script ?? short) in scripts, `${page}: npm run ${script ?? short}`);
    }
  }
});
