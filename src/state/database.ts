/** A record of the database: text by key. Keys are ordered by their UTF-8 bytes. */
export type StateRecord = readonly [key: string, value: string];

/** An embedded database that one process owns. All errors of its methods are {@link DatabaseError}s. */
export interface Database {
  /** Reads the records whose keys begin with a prefix, in order and in chunks. */
  read(prefix: string): AsyncIterable<readonly StateRecord[]>;
  createBatch(): WriteBatch;
  /** The size of its files, in bytes. */
  measureBytes(): Promise<number>;
  close(): Promise<void>;
}

/** Changes that are written together or not at all. */
export interface WriteBatch {
  put(key: string, value: string): void;
  delete(key: string): void;
  /** Passes the changes to the operating system, on a thread of its own. */
  write(): Promise<void>;
}

/** What is wrong with a database: another process has it, its files are damaged, or they cannot be read or written. */
export type DatabaseErrorCode = 'locked' | 'damaged' | 'inaccessible';

/** An error of the database, with the error of its engine as the cause. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  readonly code: DatabaseErrorCode;

  constructor(code: DatabaseErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
