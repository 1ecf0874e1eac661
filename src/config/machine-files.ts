import { readdir, readFile, stat } from 'node:fs/promises';
import type { ConfigurationFiles } from './files.ts';

/** The files of this machine. */
export const MACHINE_FILES: ConfigurationFiles = {
  readFile: (path) => readFile(path, 'utf8'),
  listFolder: (path) => readdir(path),
  async stampOf(path) {
    // Not the time of the last read, which reading changes.
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  },
};
