import { AccumulatorPool } from '../../../src/tally/accumulator-pool.ts';
import { RecordAggregator } from '../../oracle/tally/record-aggregator.ts';
import { nodeFileSystem, type FileSystem, type OpenFile } from '../../../src/state/file-system.ts';
import { StateStore } from '../../../src/state/state-store.ts';
import type { StateEntryOf } from '../../../src/tally/state-entry.ts';
import type { Tally } from '../../../src/tally/tally.ts';
import { buildOutputRecord, buildTaskRecord } from '../../support/record-builders.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { createRecordingLogger, type LogLine } from '../../support/recording-logger.ts';
import { newTally, NOW_MS } from './state-fixtures.ts';

export const INTERVAL_MS = 60 * 60 * 1000;
export const RETAIN_MS = 7 * 24 * 60 * 60 * 1000;

const openFiles = new Set<OpenFile>();

/** A file system that tracks open files. */
function trackOpenFiles(files: FileSystem): FileSystem {
  return {
    ...files,
    open: async (path, flags, mode) => {
      const file = await files.open(path, flags, mode);
      openFiles.add(file);
      return file;
    },
  };
}

/** Closes the files that killed processes did not close. */
export async function closeAbandonedFiles(): Promise<void> {
  for (const file of openFiles) await file.close().catch(() => undefined);
  openFiles.clear();
}

/** Published totals by family and label set. */
export type Totals = Readonly<Record<string, number>>;

/** A listing: input bytes of tasks, which are named `<vs_id>/<id>`. */
type BytesByTask = Readonly<Record<string, number>>;

/** The state store of one process, with its tallies. */
export class StoreHarness {
  readonly store: StateStore;
  readonly clock: ManualClock;
  readonly lines: readonly LogLine[];
  readonly tallies = new Map<string, Tally>();
  readonly errors: string[] = [];
  snapshotCount = 0;

  constructor(store: StateStore, clock: ManualClock, lines: readonly LogLine[]) {
    this.store = store;
    this.clock = clock;
    this.lines = lines;
  }

  /** Starts a process that polls these service codes. */
  static async start(...parameters: Parameters<typeof StoreHarness.open>): Promise<StoreHarness> {
    const harness = await StoreHarness.open(...parameters);
    const metrics = {
      recordWrite: () => {
        harness.snapshotCount += 1;
      },
      recordWriteError: () => {
        harness.errors.push('error');
      },
    };
    await harness.store.begin({ tallies: () => harness.tallies.values(), metrics });
    harness.store.start().catch(() => undefined);
    return harness;
  }

  /** Opens the state like a process before its first poll, which changes no file. */
  static async open(
    path: string,
    serviceCodes: readonly string[],
    files: FileSystem = nodeFileSystem,
    nowMs = NOW_MS,
  ): Promise<StoreHarness> {
    const clock = new ManualClock(nowMs);
    const { logger, lines } = createRecordingLogger();
    const store = await StateStore.open({
      path,
      files: trackOpenFiles(files),
      clock,
      logger,
      intervalMs: INTERVAL_MS,
      retainMs: RETAIN_MS,
      createTally: (serviceCode) => (serviceCodes.includes(serviceCode) ? newTally(serviceCode) : undefined),
    });
    const harness = new StoreHarness(store, clock, lines);
    for (const serviceCode of serviceCodes) harness.configure(serviceCode);
    return harness;
  }

  /** Configures a service code, like a reload. */
  configure(serviceCode: string): void {
    const tally = this.store.restoreTally(serviceCode, () => newTally(serviceCode));
    this.tallies.set(serviceCode, tally ?? newTally(serviceCode));
  }

  /** Commits a listing and resolves with the published totals once they may be exposed. */
  async publish(serviceCode: string, bytesByTask: BytesByTask): Promise<Totals> {
    const totals = this.commit(serviceCode, bytesByTask);
    await this.store.recordCommit(this.#getTally(serviceCode));
    return totals;
  }

  commit(serviceCode: string, bytesByTask: BytesByTask): Totals {
    this.clock.advance(1);
    const tally = this.#getTally(serviceCode);
    const listing = new RecordAggregator(new AccumulatorPool());
    for (const [name, inputBytes] of Object.entries(bytesByTask)) {
      const [vsId = '', id = ''] = name.split('/');
      const outputs = [buildOutputRecord({ format: 'flv', httpOutputBytes: 2 * inputBytes })];
      listing.addTask(buildTaskRecord({ id, vsId, inputBytes, outputs }));
    }
    listing.finish();
    const { counters } = tally.commit(listing, this.#now());
    const entries = Object.entries(counters).flatMap(([family, samples]) =>
      'labelSets' in samples
        ? samples.labelSets.map((labels, index): [string, number] => [
            [family, ...labels].join(' '),
            samples.values[index] ?? Number.NaN,
          ])
        : [],
    );
    return Object.fromEntries(entries);
  }

  /** Returns the totals with which a service code resumes. */
  resumed(serviceCode: string): Totals {
    const entries = [...this.#getTally(serviceCode).exportTotals()];
    return totalsOf(entries.filter((entry) => entry[0] === 'counter'));
  }

  /** Writes a snapshot, like the periodic writer. */
  async writeSnapshot(): Promise<void> {
    const before = this.snapshotCount + this.errors.length;
    this.clock.advance(INTERVAL_MS);
    while (this.snapshotCount + this.errors.length === before) await new Promise(setImmediate);
    await new Promise(setImmediate);
  }

  #getTally(serviceCode: string): Tally {
    const tally = this.tallies.get(serviceCode);
    if (tally === undefined) throw new Error(`Expected ${serviceCode} to be configured`);
    return tally;
  }

  #now() {
    return { wallMs: this.clock.now(), monotonicMs: this.clock.monotonic() };
  }
}

/** Writes the state of a killed process that polled service code `A`: a snapshot, and a journal of later listings. */
export async function createKilledState(
  path: string,
  beforeSnapshot: readonly BytesByTask[],
  afterSnapshot: readonly BytesByTask[],
): Promise<void> {
  const killed = await StoreHarness.start(path, ['A']);
  for (const bytesByTask of beforeSnapshot) await killed.publish('A', bytesByTask);
  await killed.writeSnapshot();
  for (const bytesByTask of afterSnapshot) await killed.publish('A', bytesByTask);
}

function totalsOf(entries: readonly StateEntryOf<'counter'>[]): Totals {
  return Object.fromEntries(
    entries.map(([, counter, labels, total]) => [[counter, ...labels].join(' '), total]),
  );
}
