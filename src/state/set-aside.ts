import { codeOf, type FileSystem } from './file-system.ts';

/**
 * Renames a state file that cannot be used, so that a new one does not take its place; its new path. `nowMs` is
 * wall-clock time. One that was set aside before is left alone.
 */
export async function setAside(files: FileSystem, path: string, nowMs: number): Promise<string> {
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  for (let number = 1; ; number += 1) {
    const aside = `${path}.damaged-${time}${number === 1 ? '' : `-${number}`}`;
    if (await isTaken(files, aside)) continue;
    await files.rename(path, aside);
    return aside;
  }
}

async function isTaken(files: FileSystem, path: string): Promise<boolean> {
  try {
    await files.stat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}
