import { readdirSync } from 'node:fs';
import { repositoryPath, repositoryText } from '../support/repository.ts';

/** Folders with pages of others, or none. */
const NOT_OURS = /^(?:node_modules|dist|build|\.git|\.cache)(?:\/|$)/;

/** All pages of this repository: its Markdown files. */
export function pages(): readonly string[] {
  const top = readdirSync(repositoryPath(), { withFileTypes: true }).filter(
    ({ name }) => !NOT_OURS.test(name),
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

/** What a page says outside of its blocks of code. */
export function proseOf(page: string): string {
  return repositoryText(page).replaceAll(/^```.*?^```$/gms, '');
}

/** The names by which links lead to the headings of a page, as Git hosts make them. */
export function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of proseOf(page).matchAll(/^#{1,6} (.*)$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
    let name = slug;
    for (let count = 1; anchors.has(name); count += 1) name = `${slug}-${count}`;
    anchors.add(name);
  }
  return anchors;
}

/** A block of commands: where it stands, and what is in it. */
export interface CommandBlock {
  readonly page: string;
  readonly text: string;
}

/** The blocks of all pages that are marked as commands of a shell. */
export function commandBlocks(): readonly CommandBlock[] {
  return pages().flatMap((page) =>
    [...repositoryText(page).matchAll(/^```(?:sh|bash|shell|console)\n(.*?)^```$/gms)].map(
      ([, text = '']) => ({
        page,
        text,
      }),
    ),
  );
}
