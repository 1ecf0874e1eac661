import { InputBuffer } from './input-buffer.ts';
import { ListingError } from '../../../src/listing/listing-error.ts';
import { KeyTable } from './key-table.ts';
import { RecordReaders, type ListingSink } from './record-readers.ts';
import { CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-bytes.ts';
import { OUT_OF_BYTES, isNumberStart, type Scanner } from './scanner.ts';
import { ValueSkipper } from './value-skipper.ts';

/** Most bytes of an incomplete record that a reader buffers, so that memory does not grow with the body. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;

/** Larger chunks are read in slices of this size. */
const SLICE_BYTES = 64 * 1024;

type ReaderState =
  | 'start'
  | 'first_member'
  | 'member'
  | 'after_member'
  | 'first_element'
  | 'element'
  | 'after_element'
  | 'skipped_member'
  | 'skipped_element'
  | 'skipped_body'
  | 'end';

/** The members of the response object that are read. */
const MEMBERS = { ret: 'ret', user_list: 'user_list', task_list: 'task_list' } as const;

type MemberName = keyof typeof MEMBERS;
type ListName = Exclude<MemberName, 'ret'>;

/** The result of reading a listing, besides its records. */
export interface ListingResult {
  /** 0 is success. With any other value, the records that the sink received are not valid. */
  readonly ret: number;
  /** Length of the decompressed body. */
  readonly bytes: number;
}

/**
 * Reads the body of a `task_list` response ("Response object") in chunks as they arrive, and passes each complete
 * record to the sink. It buffers at most one record: if a chunk ends within a record, the bytes of that record are
 * kept and read again with the next chunk.
 *
 * Throws a `ListingError`: `not_json` at the byte where the body is not JSON; `bad_shape`, at the end, for JSON
 * that is not a listing. After an error the records that the sink received are not valid.
 */
export class ListingReader {
  readonly #sink: ListingSink;
  readonly #serviceCode: string;
  readonly #records: RecordReaders;
  readonly #scanner: Scanner;
  readonly #skipper = new ValueSkipper();
  readonly #keys = new KeyTable<MemberName>(MEMBERS);
  readonly #seen = new Set<MemberName>();
  #state: ReaderState = 'start';
  #list: ListName = 'user_list';
  /** Position of the current unit in the window. A unit is read completely or again: an element, a member, a separator. */
  #unitStart = 0;
  #ret: number | undefined;
  /** Thrown at the end of the body only: a syntax error takes precedence. */
  #firstShapeError: ListingError | undefined;

  readonly #inputBuffer = new InputBuffer();
  /** Bytes of the incomplete unit that the last read left in the buffer. */
  #incompleteBytes = 0;
  /** Offset of the buffer's first byte from the start of the body. */
  #bufferOffset = 0;

  /** `serviceCode` is the polled one; records of another are marked as foreign. */
  constructor(sink: ListingSink, serviceCode: string, records = new RecordReaders()) {
    this.#sink = sink;
    this.#serviceCode = serviceCode;
    this.#records = records;
    this.#scanner = records.scanner;
  }

  /** The body's `ret`; undefined until it is read. */
  get ret(): number | undefined {
    return this.#ret;
  }

  /** Reads the next chunk of the body, cut at any byte. */
  write(chunk: Uint8Array): void {
    for (let start = 0; start < chunk.length; start += SLICE_BYTES) {
      this.#inputBuffer.append(chunk.subarray(start, start + SLICE_BYTES));
      // Waiting until the buffer has doubled keeps the cost linear when many chunks cut one long unit.
      const newBytes = this.#inputBuffer.length - this.#incompleteBytes;
      if (newBytes >= Math.min(this.#incompleteBytes, MAX_BUFFERED_BYTES - this.#incompleteBytes))
        this.#read(false);
      else this.#inputBuffer.copyLastChunk();
    }
  }

  end(): ListingResult {
    this.#read(true);
    const bytes = this.#bufferOffset + this.#inputBuffer.length;
    if (this.#state !== 'end') {
      throw new ListingError('not_json', 'Expected more input, found the end of the body', bytes);
    }
    if (this.#ret !== undefined && this.#ret !== 0) return { ret: this.#ret, bytes };
    if (this.#firstShapeError !== undefined) throw this.#firstShapeError;
    for (const key of Object.values(MEMBERS)) {
      if (!this.#seen.has(key)) throw createShapeError(`Expected a member "${key}", found none`, bytes);
    }
    return { ret: 0, bytes };
  }

  /** Reads all complete units and keeps the rest. */
  #read(isLast: boolean): void {
    const inputBuffer = this.#inputBuffer;
    const window = this.#records.scratchBuffer.reserve(inputBuffer.length);
    inputBuffer.copyTo(window);
    this.#scanner.load(window, inputBuffer.length, this.#bufferOffset);
    const consumed = this.#readUnits(isLast);
    inputBuffer.discard(window, consumed);
    this.#bufferOffset += consumed;
    this.#incompleteBytes = inputBuffer.length;
    if (this.#incompleteBytes > MAX_BUFFERED_BYTES) this.#dropOversizedUnit();
  }

  /** Returns the number of bytes consumed. */
  #readUnits(isLast: boolean): number {
    try {
      for (;;) {
        this.#unitStart = this.#scanner.position;
        this.#readUnit(isLast);
      }
    } catch (error) {
      if (error !== OUT_OF_BYTES) throw error;
      return this.#state.startsWith('skipped_') ? this.#skipper.resumePosition : this.#unitStart;
    }
  }

  #readUnit(isLast: boolean): void {
    switch (this.#state) {
      case 'start':
        return this.#readStart();
      case 'first_member':
        return this.#scanner.peek() === CLOSE_BRACE ? this.#consumeBracket('end') : this.#readMember();
      case 'member':
        return this.#readMember();
      case 'after_member':
        return this.#readSeparator(CLOSE_BRACE, '"," or "}"', 'end', 'member');
      case 'first_element':
        return this.#scanner.peek() === CLOSE_BRACKET
          ? this.#consumeBracket('after_member')
          : this.#readElements();
      case 'element':
        return this.#readElements();
      case 'after_element':
        return this.#readSeparator(CLOSE_BRACKET, '"," or "]"', 'after_member', 'element');
      case 'skipped_member':
        return this.#skip('after_member', isLast);
      case 'skipped_element':
        return this.#skip('after_element', isLast);
      case 'skipped_body':
        return this.#skip('end', isLast);
      case 'end':
        this.#scanner.peek();
        return this.#scanner.fail('the end of the body');
    }
  }

  #readStart(): void {
    if (this.#scanner.peek() === OPEN_BRACE) {
      this.#scanner.position += 1;
      this.#state = 'first_member';
    } else {
      this.#recordShapeError('Expected an object as the body, found another value');
      this.#beginSkip('skipped_body');
    }
  }

  #readMember(): void {
    const key = this.#keys.read(this.#scanner);
    const first = this.#scanner.peek();
    if (key === undefined) {
      this.#beginSkip('skipped_member');
    } else if (this.#seen.has(key)) {
      // The sink already has the records of the first one, so the last one cannot win.
      this.#recordShapeError(`Expected one member "${key}", found a duplicate`);
      this.#beginSkip('skipped_member');
    } else if (key === 'ret') {
      this.#readRet(first);
    } else {
      this.#beginList(key, first);
    }
  }

  #beginList(name: ListName, first: number): void {
    this.#seen.add(name);
    if (first === OPEN_BRACKET) {
      this.#list = name;
      this.#consumeBracket('first_element');
    } else {
      this.#recordShapeError(`Expected an array as "${name}", found another value`);
      this.#beginSkip('skipped_member');
    }
  }

  #readRet(first: number): void {
    let value: number | undefined;
    if (first === QUOTE) value = this.#readDigitString();
    else if (isNumberStart(first)) value = this.#scanner.readNumber();
    this.#seen.add('ret');
    if (Number.isSafeInteger(value)) this.#ret = value;
    else this.#recordShapeError('Expected an integer as "ret", found another value');
    if (value === undefined) this.#beginSkip('skipped_member');
    else this.#state = 'after_member';
  }

  #readDigitString(): number {
    const text = this.#scanner.readString();
    return /^-?[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  }

  /** Reads elements and the commas after them, each a unit; nearly all of a body. */
  #readElements(): void {
    const scanner = this.#scanner;
    const readRecord = this.#records[this.#list];
    for (;;) {
      readRecord(scanner, this.#sink, this.#serviceCode);
      this.#state = 'after_element';
      this.#unitStart = scanner.position;
      if (scanner.peek() !== COMMA) return;
      scanner.position += 1;
      this.#state = 'element';
      this.#unitStart = scanner.position;
    }
  }

  #readSeparator(
    close: number,
    expectation: string,
    stateAfterClose: ReaderState,
    stateAfterComma: ReaderState,
  ): void {
    if (this.#scanner.peek() === close) return this.#consumeBracket(stateAfterClose);
    this.#scanner.expect(COMMA, expectation);
    this.#state = stateAfterComma;
  }

  #consumeBracket(next: ReaderState): void {
    this.#scanner.position += 1;
    this.#state = next;
  }

  #beginSkip(state: ReaderState): void {
    this.#skipper.reset();
    this.#state = state;
  }

  #skip(next: ReaderState, isLast: boolean): void {
    this.#skipper.skip(this.#scanner, isLast);
    this.#state = next;
  }

  /** Rejects an element that exceeds the buffer. Any other unit of that length makes the body no listing. */
  #dropOversizedUnit(): void {
    if (this.#state !== 'element' && this.#state !== 'first_element') {
      throw createShapeError(`Expected a token of at most ${MAX_BUFFERED_BYTES} bytes`, this.#bufferOffset);
    }
    this.#sink.addInvalid(this.#list === 'user_list' ? 'user' : 'task', 'too_long');
    this.#beginSkip('skipped_element');
  }

  #recordShapeError(message: string): void {
    this.#firstShapeError ??= createShapeError(message, this.#scanner.offset);
  }
}

function createShapeError(message: string, byte: number): ListingError {
  return new ListingError('bad_shape', message, byte);
}
