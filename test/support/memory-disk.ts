import { DatabaseError, type Database, type WriteBatch } from '../../src/state/level-database.ts';

/**
 * A disk with one database, in memory. It outlives the processes that open the database; it can fail and
 * hang.
 */
export class MemoryDisk {
  records = new Map<string, string>();
  /** Makes each operation fail. */
  failure: DatabaseError | undefined;
  /** Delays each write until it resolves. */
  hang: Promise<void> | undefined;
  writeCount = 0;
  /** The prefixes that were read. */
  readonly reads: string[] = [];
  #owner: Database | undefined;

  /** Opens the database, unless another process has it open. */
  readonly open = (): Promise<Database> => {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    if (this.#owner !== undefined)
      return Promise.reject(new DatabaseError('locked', 'Another process has it'));
    const database: Database = {
      read: (prefix) => this.#read(prefix),
      createBatch: () => this.#createBatch(),
      checkFiles: () => this.#checkFiles(),
      close: () => Promise.resolve(this.kill()),
    };
    this.#owner = database;
    return Promise.resolve(database);
  };

  /** Ends the process that has the database open. */
  kill(): void {
    this.#owner = undefined;
  }

  #checkFiles(): Promise<void> {
    return this.failure === undefined ? Promise.resolve() : Promise.reject(this.failure);
  }

  async *#read(prefix: string) {
    this.reads.push(prefix);
    if (this.failure !== undefined) throw this.failure;
    const records = [...this.records].filter(([key]) => key.startsWith(prefix));
    if (records.length > 0) yield records.toSorted(([a], [b]) => (a < b ? -1 : 1));
  }

  #createBatch(): WriteBatch {
    const changes: (readonly [key: string, value: string | undefined])[] = [];
    return {
      set: (key, value) => void changes.push([key, value]),
      write: async () => {
        await this.hang;
        await this.#checkFiles();
        this.writeCount += 1;
        for (const [key, value] of changes)
          if (value === undefined) this.records.delete(key);
          else this.records.set(key, value);
      },
    };
  }
}
