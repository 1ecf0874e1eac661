import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import { systemClock } from '../runtime/clock.ts';
import { BoundedFileSystem } from './bounded-file-system.ts';
import { FileError, MAX_FILE_MIB, NOT_REGULAR } from './files.ts';

const MAX_FILE_BYTES = MAX_FILE_MIB * 1024 * 1024;

/** The file system of this machine. There is one per process, like the threads that its calls occupy. */
export const LOCAL_FILE_SYSTEM = new BoundedFileSystem(
  {
    readFile: readRegularFile,
    listFolder: (path) => fs.readdir(path),
    async readStamp(path) {
      // Without atime, which changes with every read.
      const { dev, ino, size, mtimeNs, ctimeNs } = await fs.stat(path, { bigint: true });
      return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
    },
  },
  systemClock,
);

async function readRegularFile(path: string): Promise<string> {
  // Without O_NONBLOCK, opening a FIFO waits for a writer.
  const file = await fs.open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new FileError(stats.isDirectory() ? 'EISDIR' : NOT_REGULAR, path);
    if (stats.size > MAX_FILE_BYTES) throw new FileError('EFBIG', path);
    return await readText(file, path);
  } finally {
    await file.close();
  }
}

/** The size of a file in /proc or of one that grows is not known before. */
async function readText(file: fs.FileHandle, path: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of file.createReadStream({ autoClose: false, end: MAX_FILE_BYTES })) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('Expected bytes');
    chunks.push(chunk);
    bytes += chunk.length;
  }
  if (bytes > MAX_FILE_BYTES) throw new FileError('EFBIG', path);
  return Buffer.concat(chunks).toString('utf8');
}
