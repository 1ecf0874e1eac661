import type { Database, WriteBatch } from '../../../src/state/level-database.ts';
import { MemoryDisk } from '../memory-disk.ts';

/** Batches that a power loss can take back. */
const UNSYNCED_WRITES = 4;

/** The contents after a batch, and what the simulation noted for each service code that it holds. */
interface Version<Note> {
  readonly records: ReadonlyMap<string, string>;
  readonly notes: ReadonlyMap<string, Note>;
}

/**
 * A disk whose processes can be killed before or after a write, and which can lose its last writes. With each
 * code it keeps a note of the simulation, taken when the code's records are put into a batch.
 */
export class SimulatedDisk<Note> {
  readonly #disk = new MemoryDisk();
  readonly #takeNote: (serviceCode: string) => Note;
  #versions: Version<Note>[] = [{ records: new Map(), notes: new Map() }];
  #generation = 0;
  /** When the process that owns the database is killed. */
  killAt: 'before write' | 'after write' | undefined;
  #onKill: () => void = () => undefined;

  constructor(takeNote: (serviceCode: string) => Note) {
    this.#takeNote = takeNote;
  }

  get faults(): Pick<MemoryDisk, 'failure' | 'hang'> {
    return this.#disk;
  }

  /** What was noted with the records that the disk holds of a service code. */
  getNote(serviceCode: string): Note | undefined {
    return this.#versions.at(-1)?.notes.get(serviceCode);
  }

  /** The service code is dropped: its records, if any are left, must not be read any more. */
  forget(serviceCode: string): void {
    const last = this.#versions.at(-1);
    if (last === undefined) return;
    const notes = new Map(last.notes);
    notes.delete(serviceCode);
    this.#versions = [{ records: new Map(this.#disk.records), notes }];
  }

  /** Resolves when the process that opens the database next is killed at a write. */
  waitForKill(): Promise<void> {
    return new Promise((resolve) => {
      this.#onKill = resolve;
    });
  }

  readonly open = async (): Promise<Database> => {
    const database = await this.#disk.open();
    const generation = this.#generation;
    return {
      read: (prefix) => database.read(prefix),
      checkFiles: () => database.checkFiles(),
      close: () => database.close(),
      createBatch: () => this.#createBatch(database, generation),
    };
  };

  /** Ends the process; what it still writes is lost. */
  kill(): void {
    this.#generation += 1;
    this.killAt = undefined;
    this.#disk.kill();
    this.#disk.failure = undefined;
    this.#disk.hang = undefined;
  }

  /** Takes back the last writes. */
  losePower(writes: number): void {
    this.#versions = this.#versions.slice(0, Math.max(1, this.#versions.length - writes));
    this.#disk.records = new Map(this.#versions.at(-1)?.records);
  }

  erase(): void {
    this.#disk.records = new Map();
    this.#versions = [{ records: new Map(), notes: new Map() }];
  }

  #createBatch(database: Database, generation: number): WriteBatch {
    const batch = database.createBatch();
    const notes = new Map<string, Note>();
    return {
      set: (key, value) => {
        const serviceCode = key.slice(0, key.indexOf('\0'));
        if (value !== undefined && serviceCode !== '' && !notes.has(serviceCode))
          notes.set(serviceCode, this.#takeNote(serviceCode));
        batch.set(key, value);
      },
      write: async () => {
        await this.#disk.hang;
        const { killAt } = this;
        if (generation !== this.#generation || killAt === 'before write') return await this.#die(generation);
        await batch.write();
        const earlier = this.#versions.at(-1)?.notes ?? [];
        this.#versions.push({
          records: new Map(this.#disk.records),
          notes: new Map([...earlier, ...notes]),
        });
        this.#versions = this.#versions.slice(-UNSYNCED_WRITES);
        if (killAt === 'after write') await this.#die(generation);
      },
    };
  }

  /** Never resolves: a dead process goes no further. */
  #die(generation: number): Promise<never> {
    if (generation === this.#generation) this.#onKill();
    return new Promise(() => undefined);
  }
}
