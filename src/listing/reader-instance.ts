import { Aggregator } from './aggregator.ts';
import { ColumnReader, type HashKey } from './engine/column-reader.ts';
import { LabelNames } from './engine/label-names.ts';
import { parseInputProtocol } from './input-protocol.ts';
import { FIXED_LABELS } from './label-ids.ts';
import { sanitizeLabelValue } from './label-values.ts';
import type { ListingSink } from './listing-sink.ts';
import { computeMaxLabels, type ReaderLimits } from './reader-limits.ts';
import type { SumTableKey } from './sum-table.ts';
import { createTaskListTable } from './task-list.ts';
import type { TaskNameField, TaskNameSource } from './task-name.ts';

/** Random bits for the hashes of the engine and of the sums. */
export interface ReaderKeys {
  readonly engine: HashKey;
  readonly sums: SumTableKey;
}

/** The result of reading a listing. */
export interface ListingResult {
  /** 0 is success. With any other value, the sink receives no totals. */
  readonly ret: number;
  /** Length of the decompressed body. */
  readonly bytes: number;
}

/** An instance of the engine with the table of `task_list`. It reads one listing at a time. */
export class ReaderInstance {
  readonly nameField: TaskNameField | undefined;
  readonly #reader: ColumnReader;
  readonly #aggregator: Aggregator;
  #sink: ListingSink | undefined;
  #ret: number | undefined;

  constructor(
    module: WebAssembly.Module,
    limits: ReaderLimits,
    keys: ReaderKeys,
    nameField: TaskNameField | undefined,
  ) {
    this.nameField = nameField;
    const table = createTaskListTable(limits, nameField);
    const names = new LabelNames(FIXED_LABELS, sanitizeLabelValue);
    const { maxEntryBytes, maxRows } = limits;
    const engineLimits = { maxLabels: computeMaxLabels(limits), maxEntryBytes, maxRows };
    this.#reader = new ColumnReader(module, table.body, engineLimits, keys.engine, {
      names,
      nameScheme: parseInputProtocol,
      takeScalar: (_ret, value) => this.#takeRet(value),
      noteRejected: (type, reason, entry) => this.#aggregator.rejections.noteElement(type, reason, entry),
      takeBatch: () => this.#aggregator.takeBatch(),
    });
    this.#aggregator = new Aggregator(this.#reader, table, names, limits, keys.sums);
  }

  /** Bytes of the engine's memory in use. They never shrink. */
  get allocatedBytes(): number {
    return this.#reader.allocatedBytes;
  }

  /** The body's `ret`; undefined until it is read. */
  get ret(): number | undefined {
    return this.#ret;
  }

  /** Starts a listing. */
  begin(sink: ListingSink, serviceCode: string, nameSource: TaskNameSource | undefined): void {
    this.#sink = sink;
    this.#ret = undefined;
    this.#reader.begin(serviceCode);
    this.#aggregator.begin(nameSource, sink);
  }

  /** Reads the next chunk of the body, cut at any byte. */
  write(chunk: Uint8Array): void {
    this.#reader.write(chunk);
    this.#sink?.setProgress(this.#aggregator.users, this.#aggregator.taskCount);
  }

  /** Ends the body. With `ret` 0, the sink gets the totals. */
  end(): ListingResult {
    this.#reader.end(() => this.#isRefusal);
    const bytes = this.#reader.receivedBytes;
    if (this.#isRefusal) return { ret: this.#ret ?? 0, bytes };
    this.#sink?.finish(this.#aggregator.finish());
    return { ret: 0, bytes };
  }

  /** Releases the listing. */
  reset(): void {
    this.#sink = undefined;
    this.#aggregator.reset();
  }

  get #isRefusal(): boolean {
    return this.#ret !== undefined && this.#ret !== 0;
  }

  /** "Response object", `ret`: an integer, or a string of digits. */
  #takeRet(value: unknown): boolean {
    const number = typeof value === 'string' && /^-?[0-9]+$/.test(value) ? Number(value) : value;
    if (!Number.isSafeInteger(number)) return false;
    this.#ret = Number(number);
    return true;
  }
}
