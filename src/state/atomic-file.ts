import { dirname } from 'node:path';
import { getErrorCode } from '../runtime/errors.ts';
import type { FileSystem, OpenFile } from './file-system.ts';

/** Readable by the owner only: the state contains task ids. */
const FILE_MODE = 0o600;

/**
 * Replaces a file so that at any moment, after any failure, its path holds either the old or the new content, complete.
 * Writes a temporary file in the same directory, syncs it, renames it and syncs the directory.
 *
 * The temporary file always has the same name, so that a killed process leaves at most one behind. There must be only
 * one writer at a time.
 *
 * @param write - writes the content and returns its size
 * @returns the size of the file in bytes
 */
export async function writeAtomically(
  files: FileSystem,
  path: string,
  write: (file: OpenFile) => Promise<number>,
): Promise<number> {
  const temporaryPath = toTemporaryPath(path);
  const file = await createTemporaryFile(files, path);
  try {
    const bytes = await writeToDisk(file, write);
    await files.rename(temporaryPath, path);
    await syncDirectory(files, dirname(path));
    return bytes;
  } catch (error) {
    // Frees the space, as the disk may be full. The first error is the one to report.
    await files.rm(temporaryPath, { force: true }).catch(() => undefined);
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

/** Rejects if the temporary file of {@link writeAtomically} cannot be created. */
export async function checkWritable(files: FileSystem, path: string): Promise<void> {
  const file = await createTemporaryFile(files, path);
  await file.close();
  await files.rm(toTemporaryPath(path), { force: true });
}

/** Removes a leftover and creates the file exclusively, so that it has our mode and no symbolic link is followed. */
export async function createTemporaryFile(files: FileSystem, path: string): Promise<OpenFile> {
  const temporaryPath = toTemporaryPath(path);
  await files.rm(temporaryPath, { force: true });
  return await files.open(temporaryPath, 'wx', FILE_MODE);
}

export function toTemporaryPath(path: string): string {
  return `${path}.tmp`;
}

/** Makes a rename durable. */
async function syncDirectory(files: FileSystem, path: string): Promise<void> {
  const directory = await files.open(path, 'r');
  try {
    await directory.sync();
  } catch (error) {
    // Some network file systems do not support this for directories.
    if (getErrorCode(error) !== 'EINVAL') throw error;
  } finally {
    await directory.close();
  }
}
