import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The path of a file of this repository, seen from the compiled tests in `build/test/support`. */
export function repositoryPath(...names: readonly string[]): string {
  return join(ROOT, ...names);
}

/** The text of a file of this repository. */
export function readRepositoryFile(...names: readonly string[]): string {
  return readFileSync(repositoryPath(...names), 'utf8');
}

/** The names in a folder of this repository, in order. */
export function listRepositoryFolder(...names: readonly string[]): readonly string[] {
  return readdirSync(repositoryPath(...names)).toSorted();
}
