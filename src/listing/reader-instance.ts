import { parseInputProtocol } from './input-protocol.ts';
import { LabelNames } from './label-names.ts';
import { ListingError } from './listing-error.ts';
import type { ListingSink } from './listing-sink.ts';
import { instantiate, type ModuleExports } from './module-exports.ts';
import { ModuleMemory } from './module-memory.ts';
import { createListingError, GOOD, isBadShape } from './reader-errors.ts';
import { listModuleLimits, type ReaderLimits } from './reader-limits.ts';
import { ReadingDecoder } from './reading-decoder.ts';
import { RowDecoder } from './row-decoder.ts';
import { decodeTotals, readFieldNames, type FieldNames } from './totals-decoder.ts';

/** Size of a slice that the module takes at a time; `window.ts` of the module has the same. */
const SLICE_BYTES = 64 * 1024;

/** Keys of labels that are not texts begin with these bytes; see `labels.ts` of the module. */
const NUMBER_KEY = 0;
const SCHEME_KEY = 1;
const ONE_NUMBER_BYTES = 9;

/** The result of reading a listing. */
export interface ListingResult {
  /** 0 is success. With any other value, the tasks that the sink received are not valid. */
  readonly ret: number;
  /** Length of the decompressed body. */
  readonly bytes: number;
}

/** An instance of the module with its memory. It reads one listing at a time. */
export class ReaderInstance {
  readonly #exports: ModuleExports;
  readonly #memory: ModuleMemory;
  readonly #names = new LabelNames();
  readonly #rows: RowDecoder;
  readonly #readings: ReadingDecoder;
  readonly #fields: FieldNames;
  readonly #maxEntryBytes: number;
  #sink: ListingSink | undefined;
  #serviceCode = '';
  #ret: number | undefined;

  constructor(module: WebAssembly.Module, limits: ReaderLimits, seed: bigint) {
    this.#maxEntryBytes = limits.maxEntryBytes;
    this.#exports = instantiate(module, this.#createHost());
    this.#memory = new ModuleMemory(this.#exports.memory);
    this.#rows = new RowDecoder(this.#exports, this.#memory, this.#names);
    this.#readings = new ReadingDecoder(this.#exports, this.#memory, this.#names);
    this.#exports.setUp(seed);
    this.#exports.setLimits(...listModuleLimits(limits));
    this.#fields = readFieldNames(this.#exports, this.#memory);
  }

  /** Bytes of memory in use. They never shrink. */
  get allocatedBytes(): number {
    return this.#exports.allocatedBytes();
  }

  /** The body's `ret`; undefined until it is read. */
  get ret(): number | undefined {
    return this.#ret;
  }

  /** Starts a listing. */
  begin(sink: ListingSink, serviceCode: string): void {
    this.#sink = sink;
    this.#serviceCode = serviceCode;
    this.#ret = undefined;
    const code = Buffer.from(serviceCode);
    // A code that does not fit is compared by the host; 0 is the length of no code.
    const isShort = code.length <= 1024;
    if (isShort) this.#memory.bytes.set(code, this.#exports.polledCode.value);
    if (this.#exports.begin(isShort ? code.length : 0) !== 0) this.#names.clear();
  }

  /** Reads the next chunk of the body, cut at any byte. */
  write(chunk: Uint8Array): void {
    for (let start = 0; start < chunk.length; start += SLICE_BYTES) {
      const slice = chunk.length <= SLICE_BYTES ? chunk : chunk.subarray(start, start + SLICE_BYTES);
      const address = this.#exports.reserveSlice();
      this.#memory.bytes.set(slice, address);
      this.#check(this.#exports.write(slice.length));
      this.#takeReadings();
    }
    this.#sink?.setProgress(this.#exports.users.value, this.#exports.tasks.value);
  }

  /** Ends the body. With `ret` 0, the sink gets the totals. */
  end(): ListingResult {
    const outcome = this.#exports.end();
    const bytes = this.#exports.receivedBytes();
    if (!isBadShape(outcome)) this.#check(outcome);
    if (this.#ret !== undefined && this.#ret !== 0) return { ret: this.#ret, bytes };
    this.#check(outcome);
    this.#takeReadings();
    this.#sink?.finish(decodeTotals(this.#exports, this.#memory, this.#fields, this.#rows));
    return { ret: 0, bytes };
  }

  /** Releases the sink. */
  reset(): void {
    this.#sink = undefined;
  }

  #check(outcome: number): void {
    if (outcome !== GOOD) throw createListingError(outcome, this.#exports, this.#maxEntryBytes);
  }

  #takeReadings(): void {
    if (this.#sink !== undefined && this.#exports.readingsUsed.value > 0)
      this.#readings.decodeAll(this.#sink);
  }

  /** Creates the imports of the module; `host.ts` of the module documents them. */
  #createHost(): Readonly<Record<string, (...args: number[]) => number | void>> {
    return {
      parseNumber: (token = 0, length = 0) => Number(this.#memory.readLatin1(token, length)),
      decodeText: (text = 0, length = 0, to = 0) =>
        this.#memory.writeUtf16(this.#memory.readText(text, length), to),
      nameLabel: (key = 0, length = 0) => this.#names.getId(this.#readKey(key, length)),
      findProtocol: (url = 0, length = 0) =>
        this.#names.getId(parseInputProtocol(this.#memory.readText(url, length))),
      isPolledCode: (text = 0, length = 0) =>
        this.#memory.readText(text, length) === this.#serviceCode ? 1 : 0,
      takeRet: (token = 0, length = 0) => this.#takeRet(token, length),
      takeReadings: () => this.#takeReadings(),
    };
  }

  #readKey(key: number, length: number): string {
    const first = this.#memory.bytes[key];
    if (first === SCHEME_KEY) return parseInputProtocol(`${this.#memory.readLatin1(key + 1, length - 1)}:`);
    if (first !== NUMBER_KEY) return this.#memory.readText(key, length);
    const number = String(this.#memory.readDouble(key + 1));
    return length === ONE_NUMBER_BYTES ? number : `${number}x${this.#memory.readDouble(key + 9)}`;
  }

  /** "Response object", `ret`: an integer, or a string of digits. */
  #takeRet(token: number, length: number): number {
    const value: unknown = JSON.parse(this.#memory.readUtf8(token, length));
    const number = typeof value === 'string' && /^-?[0-9]+$/.test(value) ? Number(value) : value;
    if (!Number.isSafeInteger(number)) return 0;
    this.#ret = Number(number);
    return 1;
  }
}

/** The error of a poll whose listing the module could not read because of a defect. */
export function createTrapError(cause: unknown): ListingError {
  return new ListingError('internal', 'The reader of listings failed', 0, { cause });
}
