import type { FileHandle } from 'node:fs/promises';
import { open, rename, rm, stat } from 'node:fs/promises';

/** What an open file is needed for here. */
export type OpenFile = Pick<FileHandle, 'read' | 'write' | 'stat' | 'truncate' | 'sync' | 'close'>;

/** What the state needs of the file system. Tests bring one that is full. */
export interface FileSystem {
  open(path: string, flags: string, mode?: number): Promise<OpenFile>;
  stat(path: string): Promise<{ isFile(): boolean }>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options: { readonly force: boolean }): Promise<void>;
}

/** That of the machine. */
export const machineFiles: FileSystem = { open, stat, rename, rm };

/** The system's code of an error: `ENOSPC`; `undefined` where it has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
