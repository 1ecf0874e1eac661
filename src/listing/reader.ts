import { readKey } from './containers.ts';
import { ListingError } from './errors.ts';
import { taskReader, userReader, type ListingSink, type RecordReader } from './record-readers.ts';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  OUT_OF_BYTES,
  QUOTE,
  Scanner,
  startsNumber,
} from './scanner.ts';
import { Skipper } from './skipper.ts';

/** What a reader holds of a cut record at most, give or take a chunk: it must not grow with the body. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

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

type ListName = 'user_list' | 'task_list';

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
  readonly #scanner = new Scanner();
  readonly #skipper = new Skipper();
  readonly #records: Readonly<Record<ListName, RecordReader>> = {
    user_list: userReader(),
    task_list: taskReader(),
  };
  readonly #seen = new Set<string>();
  #place: Place = 'start';
  #list: ListName = 'user_list';
  #ret: number | undefined;
  /** The first thing that makes the body no listing; told at its end, when it is known to be JSON. */
  #misshape: ListingError | undefined;

  /** Bytes not yet read: the beginning of a unit that was cut. */
  #held: Buffer = Buffer.alloc(0);
  #heldOffset = 0;
  /** Chunks that wait to be read together with what is held. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;

  constructor(sink: ListingSink) {
    this.#sink = sink;
  }

  /** The body's `ret` as far as it is known by now. */
  get ret(): number | undefined {
    return this.#ret;
  }

  /** Takes the next bytes of the body, cut anywhere. The chunk must not be written to afterwards. */
  write(chunk: Uint8Array): void {
    this.#waiting.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    this.#waitingBytes += chunk.byteLength;
    // A unit cut many times over would be read anew with each chunk; waiting until there is as much again
    // makes that a constant number of times per byte.
    const isEnough = this.#waitingBytes >= Math.min(this.#held.length, MAX_HELD_BYTES - this.#held.length);
    if (isEnough) this.#read(false);
  }

  /** Ends the body. */
  end(): ListingEnd {
    this.#read(true);
    const bytes = this.#heldOffset + this.#held.length;
    if (this.#place !== 'end') {
      throw new ListingError('not_json', 'Expected more, found the end of the body', bytes);
    }
    if (this.#ret !== undefined && this.#ret !== 0) return { ret: this.#ret, bytes };
    if (this.#misshape !== undefined) throw this.#misshape;
    for (const key of ['ret', 'user_list', 'task_list']) {
      if (!this.#seen.has(key)) throw shapeError(`Expected a member "${key}", found none`, bytes);
    }
    return { ret: 0, bytes };
  }

  /** Reads all units that the bytes at hand complete, and holds the rest. */
  #read(isLast: boolean): void {
    const window = Buffer.concat([this.#held, ...this.#waiting]);
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#scanner.load(window, this.#heldOffset);
    const consumed = this.#readUnits(isLast);
    this.#heldOffset += consumed;
    // A copy: a slice would keep the whole window alive.
    this.#held = Buffer.from(window.subarray(consumed));
    if (this.#held.length > MAX_HELD_BYTES) this.#giveUpUnit();
  }

  /** Returns how many bytes of the window were consumed. */
  #readUnits(isLast: boolean): number {
    let unitStart = 0;
    try {
      for (;;) {
        unitStart = this.#scanner.position;
        this.#readUnit(isLast);
      }
    } catch (error) {
      if (error !== OUT_OF_BYTES) throw error;
      return this.#place.startsWith('skipped_') ? this.#skipper.resumeAt : unitStart;
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
        return this.#scanner.peek() === CLOSE_BRACKET ? this.#bracket('after_member') : this.#readElement();
      case 'element':
        return this.#readElement();
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
    const key = readKey(this.#scanner);
    const first = this.#scanner.peek();
    if (key !== 'ret' && key !== 'user_list' && key !== 'task_list') {
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
    this.#scanner.string();
    const text = this.#scanner.text();
    return /^-?[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  }

  #readElement(): void {
    this.#records[this.#list](this.#scanner, this.#sink);
    this.#place = 'after_element';
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
      throw shapeError(`Expected a token of at most ${MAX_HELD_BYTES} bytes`, this.#heldOffset);
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
