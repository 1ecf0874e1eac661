import type { FileHandle } from 'node:fs/promises';
import { open, rename, rm, stat } from 'node:fs/promises';

/** The used part of a file handle. */
export type OpenFile = Pick<FileHandle, 'read' | 'write' | 'stat' | 'truncate' | 'sync' | 'close'>;

/** The used part of a file system. Tests inject failing ones. */
export interface FileSystem {
  open(path: string, flags: string, mode?: number): Promise<OpenFile>;
  stat(path: string): Promise<{ isFile(): boolean }>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options: { readonly force: boolean }): Promise<void>;
}

export const nodeFileSystem: FileSystem = { open, stat, rename, rm };
