import { instantiate, type EngineExports } from './exports.ts';
import {
  kindOf,
  listCheckedFields,
  listColumnWidths,
  type Columns,
  type Fields,
  type RecordType,
} from './fields.ts';
import type { LabelValues } from './label-values.ts';
import { EngineMemory } from './memory.ts';
import { BAD_SHAPE, createReadError, OK } from './read-error.ts';

/** Size of a slice that the module takes at a time; `window.ts` of the module has the same. */
const SLICE_BYTES = 64 * 1024;
/** Longest text that fields of the kind `match` are compared with; `texts.ts` of the module has the same. */
const MAX_MATCH_BYTES = 1024;
/** Keys of labels that are no texts begin with these bytes; see `labels.ts` of the module. */
const NUMBER_KEY = 0;
const SCHEME_KEY = 1;
/** The length of a text without flags. */
const LENGTH_BITS = 2 ** 30 - 1;

/** Why an element of a list of the body was rejected, in the order of `reader.ts` of the module. */
const REJECTION_REASONS = ['not_an_object', 'missing_field', 'wrong_type', 'too_long'] as const;
const BEYOND_LIMIT = REJECTION_REASONS.length;

type RejectionReason = (typeof REJECTION_REASONS)[number];

/** Limits of one body. */
export interface EngineLimits {
  /** Label values, those kept from earlier bodies included. */
  readonly maxLabels: number;
  /** Label values that one field of a body may add to them. */
  readonly maxFieldLabels: number;
  /** Length of an element of a list of the body. */
  readonly maxEntryBytes: number;
  /** Rows of all record types together. */
  readonly maxRows: number;
}

export interface ColumnReaderHost {
  readonly labelValues: LabelValues;
  /** The label value of the scheme of a URL. */
  nameScheme(url: string): string;
  /** Takes the member of the body that is no list; returns whether it is valid. */
  takeScalar(value: unknown): boolean;
  /** Takes one of the first five rejected elements; `entry` is its number among those of all lists. */
  noteRejected(type: RecordType, reason: RejectionReason, entry: number): void;
  /** Called when the columns hold complete elements. Columns and texts are valid during the call. */
  takeBatch(): void;
}

/** 128 random bits: without them, no colliding labels can be computed. */
export type HashKey = readonly [first: bigint, second: bigint];

/** A record type of the table, as an instance of the module knows it. */
interface BoundType {
  readonly type: RecordType;
  readonly address: number;
  /** Addresses of the fields by their names, in the order of the table. */
  readonly fields: ReadonlyMap<string, number>;
  /** The columns of the batch, by name. */
  readonly columns: Record<string, unknown>;
  /** Fields that can be invalid, as a bit set, and how often each was. */
  readonly checked: number;
  readonly invalidCounts: number[];
  invalid: Uint32Array;
}

/** Reads bodies into columns, a batch for each slice: an instance of the module. It knows no field. */
export class ColumnReader {
  readonly #exports: EngineExports;
  readonly #memory: EngineMemory;
  readonly #host: ColumnReaderHost;
  readonly #members: readonly string[];
  readonly #types = new Map<RecordType, BoundType>();
  readonly #maxEntryBytes: number;
  #hasInvalidFields = false;
  #layout = -1;
  #buffer: ArrayBuffer | undefined;
  #matchText = '';

  /** `body` has lists and one scalar. Throws a `RangeError` with the field that the module cannot take. */
  constructor(
    module: WebAssembly.Module,
    body: RecordType,
    limits: EngineLimits,
    key: HashKey,
    host: ColumnReaderHost,
  ) {
    this.#host = host;
    this.#members = Object.keys(body.fields);
    this.#maxEntryBytes = limits.maxEntryBytes;
    this.#exports = instantiate(module, this.#createImports());
    this.#memory = new EngineMemory(this.#exports.memory);
    this.#exports.setKey(...key);
    const { maxLabels, maxFieldLabels, maxEntryBytes, maxRows } = limits;
    this.#exports.setLimits(maxLabels, maxFieldLabels, maxEntryBytes, maxRows);
    this.#bind(body, this.#exports.root.value);
  }

  /** Bytes of memory in use. They never shrink. */
  get allocatedBytes(): number {
    return this.#exports.allocatedBytes();
  }

  get surplusLabels(): number {
    return this.#exports.surplusLabels.value;
  }

  /** Starts a body; `matchText` is what fields of the kind `match` are compared with. */
  begin(matchText: string): void {
    this.#matchText = matchText;
    const bytes = Buffer.from(matchText);
    if (bytes.length > MAX_MATCH_BYTES)
      throw new RangeError(`Expected a text of at most ${MAX_MATCH_BYTES} bytes, found ${bytes.length}`);
    this.#memory.bytes.set(bytes, this.#exports.matchText.value);
    if (this.#exports.begin(bytes.length) !== 0) this.#host.labelValues.clear();
    if (this.#hasInvalidFields) for (const { invalidCounts } of this.#types.values()) invalidCounts.fill(0);
    this.#hasInvalidFields = false;
  }

  /** Reads the next chunk of the body, cut at any byte. Throws a `ReadError`. */
  write(chunk: Uint8Array): void {
    for (let start = 0; start < chunk.length; start += SLICE_BYTES) {
      const slice = chunk.length <= SLICE_BYTES ? chunk : chunk.subarray(start, start + SLICE_BYTES);
      const address = this.#exports.reserveSlice();
      this.#memory.bytes.set(slice, address);
      this.#check(this.#exports.write(slice.length));
    }
  }

  /** Ends the body. Throws a `ReadError`; not for a bad shape if `mayHaveBadShape` allows it then. */
  end(mayHaveBadShape: () => boolean): void {
    const outcome = this.#exports.end();
    if (outcome !== BAD_SHAPE || !mayHaveBadShape()) this.#check(outcome);
  }

  /** One object, whose columns are current while a batch is taken. */
  columnsOf<F extends Fields>(type: RecordType<F>): Columns<F> {
    // The columns are created from the same table as their type.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return this.#get(type).columns as unknown as Columns<F>;
  }

  readText(address: number, flaggedLength: number): string {
    return this.#memory.readText(address, flaggedLength & LENGTH_BITS);
  }

  /** Counts of the invalid values of each field of a record type, without counts of 0. */
  listInvalidFields(type: RecordType): { readonly field: string; readonly count: number }[] {
    if (!this.#hasInvalidFields) return [];
    const { fields, invalidCounts } = this.#get(type);
    return Array.from(fields.keys(), (field, index) => ({ field, count: invalidCounts[index] ?? 0 })).filter(
      ({ count }) => count > 0,
    );
  }

  /** Counts of rejected elements of a list of the body, without counts of 0. */
  listRejected(type: RecordType): { readonly reason: RejectionReason; readonly count: number }[] {
    return REJECTION_REASONS.map((reason, index) => ({
      reason,
      count: this.#countDropped(type, index),
    })).filter(({ count }) => count > 0);
  }

  /** Elements of a list of the body beyond the limit of rows. */
  surplusOf(type: RecordType): number {
    return this.#countDropped(type, BEYOND_LIMIT);
  }

  /** Number of the first element of a list of the body. */
  firstEntryOf(type: RecordType): number {
    return this.#exports.firstEntryOf(this.#get(type).address);
  }

  #countDropped(type: RecordType, reason: number): number {
    return this.#memory.bytes.readUInt32LE(this.#exports.droppedOf(this.#get(type).address) + 4 * reason);
  }

  #check(outcome: number): void {
    if (outcome !== OK) throw createReadError(outcome, this.#exports, this.#members, this.#maxEntryBytes);
  }

  #get(type: RecordType): BoundType {
    const bound = this.#types.get(type);
    if (bound === undefined) throw new RangeError(`Expected a record type of the body, found "${type.name}"`);
    return bound;
  }

  /** Tells the module the fields of a record type and of those in it. */
  #bind(type: RecordType, address: number): void {
    const fields = new Map<string, number>();
    for (const [name, field] of Object.entries(type.fields)) {
      const child = field.child === undefined ? 0 : this.#exports.createType();
      if (field.child !== undefined) this.#bind(field.child, child);
      const key = Buffer.from(`"${name}"`);
      this.#memory.bytes.set(key, this.#exports.keyBuffer.value);
      const { addField } = this.#exports;
      fields.set(name, addField(address, key.length, kindOf(type, name), child, field.limit ?? 0));
    }
    for (const name of type.identity) this.#exports.addIdentityField(address, fields.get(name) ?? 0);
    const names = [...fields.keys()];
    this.#types.set(type, {
      type,
      address,
      fields,
      columns: { rows: 0 },
      checked: listCheckedFields(type).reduce((bits, name) => bits | (1 << names.indexOf(name)), 0),
      invalidCounts: names.map(() => 0),
      invalid: new Uint32Array(),
    });
  }

  #takeBatch(): void {
    const { layout, memory } = this.#exports;
    if (this.#layout !== layout.value || this.#buffer !== memory.buffer) this.#bindColumns();
    for (const bound of this.#types.values()) {
      const rows = this.#exports.rowsOf(bound.address);
      bound.columns['rows'] = rows;
      if (this.#exports.hasInvalid(bound.address) === 0) continue;
      this.#hasInvalidFields = true;
      countInvalid(bound, rows);
    }
    this.#host.takeBatch();
  }

  /** Creates the views of all columns, whose addresses or memory have changed. */
  #bindColumns(): void {
    const { buffer } = this.#exports.memory;
    for (const bound of this.#types.values()) {
      const { type, address, columns } = bound;
      const capacity = this.#exports.capacityOf(address);
      const words = (column: number): Uint32Array => new Uint32Array(buffer, column, capacity);
      const doubles = (column: number): Float64Array => new Float64Array(buffer, column, capacity);
      columns['valid'] = words(this.#exports.columnAt(address, 0));
      bound.invalid = words(this.#exports.columnAt(address, 1));
      columns['entry'] = words(this.#exports.columnAt(address, 2));
      if (type.identity.length > 0) columns['identity'] = doubles(this.#exports.columnAt(address, 3));
      for (const [name, field] of bound.fields) {
        const [first, second, third] = listColumnWidths(kindOf(type, name)).map((width, index) => {
          const column = this.#exports.columnAt(field, index);
          return width === 8 ? doubles(column) : words(column);
        });
        if (second === undefined) columns[name] = first;
        else if (third === undefined) columns[name] = { addresses: first, lengths: second };
        else columns[name] = { ends: first, surplus: second, rejected: third };
      }
    }
    this.#layout = this.#exports.layout.value;
    this.#buffer = buffer;
  }

  /** Creates the imports of the module; `host.ts` of the module documents them. */
  #createImports(): Readonly<Record<string, (...args: number[]) => number | void>> {
    const host = this.#host;
    return {
      parseNumber: (token = 0, length = 0) => Number(this.#memory.readLatin1(token, length)),
      decodeText: (text = 0, length = 0, to = 0) =>
        this.#memory.writeUtf16(this.#memory.readText(text, length), to),
      nameLabel: (key = 0, length = 0) => host.labelValues.getId(this.#readKey(key, length)),
      nameScheme: (url = 0, length = 0) =>
        host.labelValues.getId(host.nameScheme(this.#memory.readText(url, length))),
      isMatch: (text = 0, length = 0) => (this.#memory.readText(text, length) === this.#matchText ? 1 : 0),
      takeScalar: (token = 0, length = 0) =>
        host.takeScalar(JSON.parse(this.#memory.readUtf8(token, length))) ? 1 : 0,
      noteRejected: (address = 0, reason = 0, entry = 0) => {
        const bound = [...this.#types.values()].find((one) => one.address === address);
        const name = REJECTION_REASONS[reason];
        if (bound !== undefined && name !== undefined) host.noteRejected(bound.type, name, entry);
      },
      takeBatch: () => this.#takeBatch(),
    };
  }

  #readKey(key: number, length: number): string {
    const first = this.#memory.bytes[key];
    if (first === NUMBER_KEY) return String(this.#memory.bytes.readDoubleLE(key + 1));
    if (first !== SCHEME_KEY) return this.#memory.readText(key, length);
    return this.#host.nameScheme(length === 1 ? '' : `${this.#memory.readLatin1(key + 1, length - 1)}:`);
  }
}

function countInvalid({ checked, invalid, invalidCounts }: BoundType, rows: number): void {
  for (let row = 0; row < rows; row += 1) {
    for (let bits = (invalid[row] ?? 0) & checked, index = 0; bits !== 0; bits >>>= 1, index += 1) {
      if ((bits & 1) !== 0) invalidCounts[index] = (invalidCounts[index] ?? 0) + 1;
    }
  }
}
