import { lstatSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

/** A file, link or empty folder in the file system of an image. */
export interface ImageFile {
  /** Relative to the root of the image, without a leading slash. */
  readonly path: string;
  readonly uid: number;
  readonly mode: number;
  readonly state: string;
}

/** Lists all files and folders below a folder. */
export function listFiles(root: string): readonly ImageFile[] {
  return readdirSync(root, { recursive: true, withFileTypes: true }).map((entry) => {
    const full = join(entry.parentPath, entry.name);
    const { uid, mode, size, mtimeMs } = lstatSync(full);
    return { path: relative(root, full), uid, mode, state: entry.isDirectory() ? '' : `${size} ${mtimeMs}` };
  });
}
