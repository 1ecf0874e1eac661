import type { Clock } from '../runtime/clock.ts';
import type { Tally } from '../tally/tally.ts';
import type { FileSystem } from './file-system.ts';
import { formatTotals, JournalFile } from './journal-file.ts';

/** A listing is published after this time even if its totals are not in the journal yet. */
const MAX_PUBLICATION_DELAY_MS = 100;

/** The path of the journal beside a state file. */
export function toJournalPath(path: string): string {
  return `${path}.journal`;
}

export interface JournalOptions {
  readonly path: string;
  readonly files: FileSystem;
  readonly clock: Clock;
  /** Called after each write, with the error if it failed. */
  readonly onWrite: (error?: unknown) => void;
}

/** Totals that wait to be written. A tally with two listings since the last write is written in full. */
interface PendingBatch {
  readonly totals: Map<Tally, string | undefined>;
  /** Resolves when the listings of the batch can be published. */
  readonly isPublishable: Promise<void>;
}

/**
 * Appends the counter totals of each good listing to a file, so that a killed process loses none that a scrape has seen:
 * a listing is published after its totals are written, at most 100 ms later. Writes are batched and reach the page cache,
 * not the disk.
 */
export class Journal {
  readonly #options: JournalOptions;
  #current: JournalFile | undefined;
  /** The journal of the snapshot that is being written. It gets each batch, too. */
  #next: JournalFile | undefined;
  #pendingBatch: PendingBatch | undefined;
  /** Runs operations one after the other. */
  #operations: Promise<void> = Promise.resolve();
  /** Whether a write has taken too long and has not ended. */
  #isStuck = false;

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /** The id of the snapshot to which the journal on disk belongs; `undefined` before the first rotation. */
  get snapshotId(): string | undefined {
    return this.#current?.snapshotId;
  }

  /** The size of the file in bytes. */
  get bytes(): number {
    return this.#current?.bytes ?? 0;
  }

  /** Appends the totals that the last commit of a tally changed. Resolves when they can be published; does not reject. */
  append(tally: Tally): Promise<void> {
    this.#pendingBatch ??= this.#createBatch();
    const { totals, isPublishable } = this.#pendingBatch;
    totals.set(tally, totals.has(tally) ? undefined : formatTotals(tally, 'changed'));
    return isPublishable;
  }

  /**
   * Begins the journal of a new snapshot. Until the snapshot is written, totals are appended to both journals.
   *
   * @param write - writes the snapshot
   * @param completeTallies - tallies of which the journal has to begin with all totals
   */
  async rotate<Result>(
    snapshotId: string,
    write: () => Promise<Result>,
    completeTallies: Iterable<Tally> = [],
  ): Promise<Result> {
    const { files, path, clock } = this.#options;
    const next = await JournalFile.create(files, path, snapshotId, clock.now());
    try {
      await this.#enqueue(async () => {
        this.#next = next;
        await next.append(new Map([...completeTallies].map((tally) => [tally, undefined])));
      });
      const result = await write();
      await next.sync();
      await this.#enqueue(() => this.#replace(next));
      return result;
    } catch (error) {
      await this.#enqueue(async () => {
        this.#next = undefined;
        await next.discard();
      });
      throw error;
    }
  }

  /** Waits for the writes in progress and closes the file. */
  async close(): Promise<void> {
    await this.#enqueue(async () => {
      await this.#current?.close();
      this.#current = undefined;
    });
  }

  async #replace(next: JournalFile): Promise<void> {
    await next.replace();
    const previous = this.#current;
    this.#current = next;
    this.#next = undefined;
    await previous?.close();
  }

  #createBatch(): PendingBatch {
    const totals = new Map<Tally, string | undefined>();
    const written = this.#enqueue(async () => {
      this.#pendingBatch = undefined;
      await this.#write(totals);
    });
    return { totals, isPublishable: this.#isStuck ? Promise.resolve() : this.#waitBriefly(written) };
  }

  /** After one write that takes too long, listings are published without delay until it has ended. */
  async #waitBriefly(written: Promise<void>): Promise<void> {
    const abortController = new AbortController();
    const { clock } = this.#options;
    const timeout = clock.sleep(MAX_PUBLICATION_DELAY_MS, abortController.signal).then(
      () => {
        this.#isStuck = true;
      },
      () => undefined,
    );
    await Promise.race([written, timeout]);
    abortController.abort();
  }

  async #write(totals: ReadonlyMap<Tally, string | undefined>): Promise<void> {
    const { onWrite } = this.#options;
    for (const file of [this.#current, this.#next]) {
      try {
        await file?.append(totals);
        if (file !== undefined) onWrite();
      } catch (error) {
        onWrite(error);
      }
    }
    this.#isStuck = false;
  }

  async #enqueue(run: () => Promise<void>): Promise<void> {
    const result = this.#operations.then(run);
    this.#operations = result.catch(() => undefined);
    await result;
  }
}
