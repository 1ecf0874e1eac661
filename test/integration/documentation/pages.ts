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

/** Lists the anchors of the headings of a page, as Git hosts generate them. */
export function listAnchors(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of readProse(page).matchAll(/^#{1,6} (.*)$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
    let name = slug;
    for (let count = 1; anchors.has(name); count += 1) name = `${slug}-${count}`;
    anchors.add(name);
  }
  return anchors;
}

/** A block of shell commands in a page. */
export interface CommandBlock {
  readonly page: string;
  readonly text: string;
}

/** Lists the code blocks of all pages that are marked as shell commands. */
export function listCommandBlocks(): readonly CommandBlock[] {
  return listPages().flatMap((page) => {
    const blocks = readRepositoryFile(page).matchAll(/^```(?:sh|bash|shell|console)\n(.*?)^```$/gms);
    return [...blocks].map(([, text = '']) => ({ page, text }));
  });
}

/** Formats the name of a block from its page and its first line. */
export function formatBlockName({ page, text }: CommandBlock): string {
  return `${page}: ${text.split('\n')[0] ?? ''}`;
}
