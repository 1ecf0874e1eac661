import { readdirSync } from 'node:fs';
import { repositoryPath, readRepositoryFile } from '../../support/repository.ts';

/** Folders of the working tree that are not part of the repository's text: dependencies, outputs, caches. */
export const GENERATED_FOLDERS: ReadonlySet<string> = new Set([
  'node_modules',
  'dist',
  'build',
  '.git',
  '.cache',
]);

/** Lists the Markdown files of this repository. */
export function listPages(): readonly string[] {
  const top = readdirSync(repositoryPath(), { withFileTypes: true }).filter(
    ({ name }) => !GENERATED_FOLDERS.has(name),
  );
  const below = top
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) =>
      readdirSync(repositoryPath(name), { recursive: true, encoding: 'utf8' }).map(
        (path) => `${name}/${path}`,
      ),
    );
  return [...top.map(({ name }) => name), ...below].filter((path) => path.endsWith('.md')).toSorted();
}

/** Reads a page without its code blocks. */
export function readProse(page: string): string {
  return readRepositoryFile(page).replaceAll(/^```.*?^```$/gms, '');
}

/** Lists the anchors of a page: those that it names, and those that Git hosts generate for its headings. */
export function listAnchors(page: string): ReadonlySet<string> {
  const named = readProse(page).matchAll(/^<a id="(\w+)"><\/a>$/gm);
  const anchors = new Set([...named].map(([, name = '']) => name));
  for (const [, heading = ''] of readProse(page).matchAll(/^#{1,6} (.*)$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
    let name = slug;
    for (let count = 1; anchors.has(name); count += 1) name = `${slug}-${count}`;
    anchors.add(name);
  }
  return anchors;
}

/** Maps the code blocks of all pages that are marked as shell commands by page and first line. */
export function mapCommandBlocks(): ReadonlyMap<string, string> {
  const blocks = listPages().flatMap((page) => {
    const found = readRepositoryFile(page).matchAll(/^```(?:sh|bash|shell|console)\n(.*?)^```$/gms);
    return [...found].map(([, text = '']) => [`${page}: ${text.split('\n')[0]}`, text] as const);
  });
  return new Map(blocks);
}
