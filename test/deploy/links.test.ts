import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { repositoryPath, repositoryText } from '../support/repository.ts';

const PAGES = [
  'README.md',
  'SECURITY.md',
  'docs/web.md',
  ...readdirSync(repositoryPath('deploy'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('deploy', name)),
];

/** Places in this repository that a page links to. */
function localLinks(page: string): readonly string[] {
  const links = repositoryText(page).matchAll(/\]\((?!https?:)([^)#\s]+)[^)]*\)/g);
  return [...links].map(([, link = '']) => join(dirname(page), link));
}

test('what the pages link to in this repository is there', () => {
  const links = PAGES.flatMap(localLinks);
  assert.ok(links.length > 30);
  assert.deepEqual(
    links.filter((link) => !existsSync(repositoryPath(link))),
    [],
  );
});
