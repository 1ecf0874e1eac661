import { Backlog } from './backlog.ts';
import { ListingError } from './errors.ts';
import { KeyTable } from './key-table.ts';
import { RecordReaders, type ListingSink } from './record-readers.ts';
import { CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './bytes.ts';
import { OUT_OF_BYTES, startsNumber, type Scanner } from './scanner.ts';
import { Skipper } from './skipper.ts';

/** What a reader holds of a cut record at most, give or take a chunk: it must not grow with the body. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/** What is read at a time of a larger chunk. */
const SLICE_BYTES = 64 * 1024;

type Place =
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

/** The members of the answer that are read. */
const MEMBERS = { ret: 'ret', user_list: 'user_list', task_list: 'task_list' } as const;

type MemberName = keyof typeof MEMBERS;
type ListName = Exclude<MemberName, 'ret'>;

/** What a body that is a listing says besides its records. */
export interface ListingEnd {
  /** 0 is success. The records of any other answer are not to be used. */
  readonly ret: number;
  /** Length of the body. */
  readonly bytes: number;
}

/**
 * Reads the body of a `task_list` answer ("Response object") in chunks as they arrive, and hands each
 * record to the sink when it is complete. It holds no more than one record: where a chunk ends within one,
 * the record's bytes are carried over to the next chunk and read anew.
 *
 * Throws a `ListingError`: `not_json` at the byte where the body is not JSON; `bad_shape`, at the end, for
 * JSON that is no listing. What the sink was given before then belongs to no listing.
 */
export class ListingReader {
  readonly #sink: ListingSink;
  readonly #records: RecordReaders;
  readonly #scanner: Scanner;
  readonly #skipper = new Skipper();
  readonly #keys = new KeyTable<MemberName>(MEMBERS);
  readonly #seen = new Set<MemberName>();
  #place: Place = 'start';
  #list: ListName = 'user_list';
  /** In the window, where the unit being read begins. */
  #unitStart = 0;
  #ret: number | undefined;
  /** The first thing that makes the body no listing; told at its end, when it is known to be JSON. */
  #misshape: ListingError | undefined;

  readonly #backlog = new Backlog();
  /** How much of it is the beginning of a unit that was cut: what the last reading left. */
  #cut = 0;
  /** Offset of its first byte from the start of the body. */
  #offset = 0;

  constructor(sink: ListingSink, records = new RecordReaders()) {
    this.#sink = sink;
    this.#records = records;
    this.#scanner = records.scanner;
  }

  /** The body's `ret` as far as it is known by now. */
  get ret(): number | undefined {
    return this.#ret;
  }

  /** Takes the next bytes of the body, cut anywhere. */
  write(chunk: Uint8Array): void {
    for (let start = 0; start < chunk.length; start += SLICE_BYTES) {
      this.#backlog.add(chunk.subarray(start, start + SLICE_BYTES));
      // A unit cut many times over would be read anew with each chunk; waiting until there is as much again
      // makes that a constant number of times per byte.
      const fresh = this.#backlog.length - this.#cut;
      if (fresh >= Math.min(this.#cut, MAX_HELD_BYTES - this.#cut)) this.#read(false);
      else this.#backlog.keep();
    }
  }

  /** Ends the body. */
  end(): ListingEnd {
    this.#read(true);
    const bytes = this.#offset + this.#backlog.length;
    if (this.#place !== 'end') {
      throw new ListingError('not_json', 'Expected more, found the end of the body', bytes);
    }
    if (this.#ret !== undefined && this.#ret !== 0) return { ret: this.#ret, bytes };
    if (this.#misshape !== undefined) throw this.#misshape;
    for (const key of Object.values(MEMBERS)) {
      if (!this.#seen.has(key)) throw shapeError(`Expected a member "${key}", found none`, bytes);
    }
    return { ret: 0, bytes };
  }

  /** Reads all units that the bytes at hand complete, and keeps the rest. */
  #read(isLast: boolean): void {
    const backlog = this.#backlog;
    const room = this.#records.room.take(backlog.length);
    backlog.copyTo(room);
    this.#scanner.load(room, backlog.length, this.#offset);
    const consumed = this.#readUnits(isLast);
    backlog.leave(room, consumed);
    this.#offset += consumed;
    this.#cut = backlog.length;
    if (this.#cut > MAX_HELD_BYTES) this.#giveUpUnit();
  }

  /** Returns how many bytes of the window were consumed. */
  #readUnits(isLast: boolean): number {
    try {
      for (;;) {
        this.#unitStart = this.#scanner.position;
        this.#readUnit(isLast);
      }
    } catch (error) {
      if (error !== OUT_OF_BYTES) throw error;
      return this.#place.startsWith('skipped_') ? this.#skipper.resumeAt : this.#unitStart;
    }
  }

  /** Reads the smallest piece that is read whole or not at all. */
  #readUnit(isLast: boolean): void {
    switch (this.#place) {
      case 'start':
        return this.#readStart();
      case 'first_member':
        return this.#scanner.peek() === CLOSE_BRACE ? this.#bracket('end') : this.#readMember();
      case 'member':
        return this.#readMember();
      case 'after_member':
        return this.#readSeparator(CLOSE_BRACE, '"," or "}"', 'end', 'member');
      case 'first_element':
        return this.#scanner.peek() === CLOSE_BRACKET ? this.#bracket('after_member') : this.#readElements();
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
        return this.#scanner.fail('nothing after the listing');
    }
  }

  #readStart(): void {
    if (this.#scanner.peek() === OPEN_BRACE) {
      this.#scanner.position += 1;
      this.#place = 'first_member';
    } else {
      this.#misshapen('Expected an object as the body, found another value');
      this.#beginSkip('skipped_body');
    }
  }

  #readMember(): void {
    const key = this.#keys.read(this.#scanner);
    const first = this.#scanner.peek();
    if (key === undefined) {
      this.#beginSkip('skipped_member');
    } else if (this.#seen.has(key)) {
      // Which of the two holds? The records of the first are already with the sink.
      this.#misshapen(`Expected one member "${key}", found another`);
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
      this.#bracket('first_element');
    } else {
      this.#misshapen(`Expected an array as "${name}", found another value`);
      this.#beginSkip('skipped_member');
    }
  }

  #readRet(first: number): void {
    let value: number | undefined;
    if (first === QUOTE) value = this.#digits();
    else if (startsNumber(first)) value = this.#scanner.number();
    this.#seen.add('ret');
    if (Number.isSafeInteger(value)) this.#ret = value;
    else this.#misshapen('Expected an integer as "ret", found another value');
    if (value === undefined) this.#beginSkip('skipped_member');
    else this.#place = 'after_member';
  }

  #digits(): number {
    const text = this.#scanner.string();
    return /^-?[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  }

  /** Nearly all of a body: element after element, each a unit, and so is the comma behind it. */
  #readElements(): void {
    const scanner = this.#scanner;
    const readRecord = this.#records[this.#list];
    for (;;) {
      readRecord(scanner, this.#sink);
      this.#place = 'after_element';
      this.#unitStart = scanner.position;
      if (scanner.peek() !== COMMA) return;
      scanner.position += 1;
      this.#place = 'element';
      this.#unitStart = scanner.position;
    }
  }

  #readSeparator(close: number, expectation: string, behindClose: Place, behindComma: Place): void {
    if (this.#scanner.peek() === close) return this.#bracket(behindClose);
    this.#scanner.expect(COMMA, expectation);
    this.#place = behindComma;
  }

  /** Consumes the bracket or brace that stands at the position. */
  #bracket(next: Place): void {
    this.#scanner.position += 1;
    this.#place = next;
  }

  #beginSkip(place: Place): void {
    this.#skipper.begin();
    this.#place = place;
  }

  #skip(next: Place, isLast: boolean): void {
    this.#skipper.run(this.#scanner, isLast);
    this.#place = next;
  }

  /** What is held is too long to be held. An entry is left out; anything else is no listing. */
  #giveUpUnit(): void {
    if (this.#place !== 'element' && this.#place !== 'first_element') {
      throw shapeError(`Expected a token of at most ${MAX_HELD_BYTES} bytes`, this.#offset);
    }
    this.#sink.invalid(this.#list === 'user_list' ? 'user' : 'task', 'too_long');
    this.#beginSkip('skipped_element');
  }

  #misshapen(message: string): void {
    this.#misshape ??= shapeError(message, this.#scanner.offset);
  }
}

function shapeError(message: string, byte: number): ListingError {
  return new ListingError('bad_shape', message, byte);
}
