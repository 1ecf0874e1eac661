import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Returns the path of a file of this repository. */
export function repositoryPath(...names: readonly string[]): string {
  return join(ROOT, ...names);
}

/** Reads a file of this repository. */
export function readRepositoryFile(...names: readonly string[]): string {
  return readFileSync(repositoryPath(...names), 'utf8');
}

/** Lists the names in a folder of this repository, sorted. */
export function listRepositoryFolder(...names: readonly string[]): readonly string[] {
  return readdirSync(repositoryPath(...names)).toSorted();
}

/** Runs a script of the folder `scripts` until it ends. */
export function runScript(name: string, ...args: readonly string[]) {
  return spawnSync(process.execPath, [repositoryPath('scripts', name), ...args], { encoding: 'utf8' });
}
