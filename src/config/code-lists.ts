import type { InnerPath } from './format.ts';
import type { ServiceCodeEntry } from './service-codes.ts';

/** Service codes as one place gives them: the setting, or a file of them. */
export interface CodeList {
  readonly codes: readonly ServiceCodeEntry[];
  /** Folder that relative paths in it start from; undefined for the working directory. */
  readonly folder: string | undefined;
  /** Where an entry, or something inside it, stands. */
  place(this: void, inner: InnerPath): string;
}

/** A list out of a file. */
export interface CodeFile extends CodeList {
  readonly file: string;
}
