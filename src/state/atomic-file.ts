import { dirname } from 'node:path';
import { codeOf, type FileSystem, type OpenFile } from './file-system.ts';

/** Only its owner reads the state: it has ids of tasks. */
const MODE = 0o600;

/**
 * Writes a file so that at any moment, whatever happens, either the old or the new one stands whole under its
 * name: under another name in the same folder first, on the disk before it is renamed. Returns its size.
 *
 * The other name is always the same, so that a process that was killed leaves at most one file behind; there must
 * be one writer at a time.
 */
export async function writeAtomically(
  files: FileSystem,
  path: string,
  write: (file: OpenFile) => Promise<number>,
): Promise<number> {
  const temporary = temporaryPath(path);
  const file = await createTemporary(files, path);
  try {
    const bytes = await writeToDisk(file, write);
    await files.rename(temporary, path);
    await syncFolder(files, dirname(path));
    return bytes;
  } catch (error) {
    // Room for others, should the disk be full. What went wrong first is what is told.
    await files.rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

async function writeToDisk(file: OpenFile, write: (file: OpenFile) => Promise<number>): Promise<number> {
  try {
    const bytes = await write(file);
    await file.sync();
    return bytes;
  } finally {
    await file.close();
  }
}

/** Rejects if no file can be made beside `path`. */
export async function proveWritable(files: FileSystem, path: string): Promise<void> {
  const file = await createTemporary(files, path);
  await file.close();
  await files.rm(temporaryPath(path), { force: true });
}

/** Made anew, so that its mode is ours and no link is followed. */
async function createTemporary(files: FileSystem, path: string): Promise<OpenFile> {
  const temporary = temporaryPath(path);
  await files.rm(temporary, { force: true });
  return await files.open(temporary, 'wx', MODE);
}

function temporaryPath(path: string): string {
  return `${path}.tmp`;
}

/** That a file was renamed stands on the disk only once its folder does. */
async function syncFolder(files: FileSystem, path: string): Promise<void> {
  const folder = await files.open(path, 'r');
  try {
    await folder.sync();
  } catch (error) {
    // Some network file systems know no such thing for folders.
    if (codeOf(error) !== 'EINVAL') throw error;
  } finally {
    await folder.close();
  }
}
