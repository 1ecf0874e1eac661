import type { EngineExports } from './exports.ts';

/** `bad_shape`: JSON, but not that of the table. `resources`: no memory. `internal`: an engine defect. */
export type ReadErrorCode = 'not_json' | 'bad_shape' | 'resources' | 'internal';

/** A body cannot be read. The message names the byte offset and quotes at most one byte of the body. */
export class ReadError extends Error {
  override readonly name = 'ReadError';
  readonly code: ReadErrorCode;
  /** Offset from the start of the decompressed body. */
  readonly byteOffset: number;
  /** Whether the body is the start of JSON. */
  readonly isCutOff: boolean;

  constructor(
    code: ReadErrorCode,
    message: string,
    byte: number,
    { isCutOff = false, ...options }: ErrorOptions & { readonly isCutOff?: boolean } = {},
  ) {
    super(`${message} at byte ${byte}`, options);
    this.code = code;
    this.byteOffset = byte;
    this.isCutOff = isCutOff;
  }
}

/* The words for what the module reports by numbers. */

/** In the order of `failure.ts` of the module. */
const EXPECTATIONS = [
  'a value',
  '"," or "}"',
  '"," or "]"',
  'a quoted key',
  '":" after a key',
  'an escaped control character in a string',
  'an escape such as \\n or \\u0041',
  'four hexadecimal digits after \\u',
  'a JSON number',
  'true, false or null',
  'the end of the body',
];
/** The expectation behind them: a limit of nesting, where the byte that was found does not matter. */
const MAX_DEPTH = 2 ** 20;

/** Results of `write` and `end` of the module. */
export const OK = 0;
const NOT_JSON = 1;
/** The body is complete JSON, but not that of the table. */
export const BAD_SHAPE = 2;
const TOKEN_TOO_LONG = 3;

/** Why JSON is no body of the table, in the order of `reader.ts` of the module. */
const SHAPE_ERRORS: readonly ((member: string) => string)[] = [
  () => 'Expected an object as the body, found another value',
  (member) => `Expected one member "${member}", found a duplicate`,
  (member) => `Expected an array as "${member}", found another value`,
  (member) => `Expected an integer as "${member}", found another value`,
];

/** `members` are those of the body, in order. */
export function createReadError(
  outcome: number,
  exports: EngineExports,
  members: readonly string[],
  maxEntryBytes: number,
): ReadError {
  if (outcome === NOT_JSON) return createSyntaxError(exports);
  if (outcome === BAD_SHAPE) return createShapeError(exports, members);
  if (outcome === TOKEN_TOO_LONG) {
    const message = `Expected a token of at most ${maxEntryBytes} bytes`;
    return new ReadError('bad_shape', message, exports.windowOffset.value);
  }
  const message = 'Expected more input, found the end of the body';
  const bytes = exports.receivedBytes();
  return new ReadError('not_json', message, bytes, { isCutOff: bytes > 0 });
}

/** V8's message for `unreachable()`, which the module runs into only if its memory cannot grow. */
const NO_MEMORY = 'unreachable';

/** The error of a body that the module could not read for lack of memory, or because of a defect. */
export function createTrapError(cause: Error): ReadError {
  return cause.message === NO_MEMORY
    ? new ReadError('resources', 'The reader of listings got no memory', 0, { cause })
    : new ReadError('internal', 'The reader of listings failed', 0, { cause });
}

function createSyntaxError({ expectation, failureOffset, failureByte }: EngineExports): ReadError {
  const expected = EXPECTATIONS[expectation.value];
  const message =
    expected === undefined
      ? `Expected at most ${MAX_DEPTH} levels of nesting`
      : `Expected ${expected}, found ${describeByte(failureByte())}`;
  return new ReadError('not_json', message, failureOffset());
}

function createShapeError(exports: EngineExports, members: readonly string[]): ReadError {
  const { seenMembers, shapeError, shapeErrorMember, shapeErrorOffset } = exports;
  const describe = SHAPE_ERRORS[shapeError.value - 1];
  if (describe !== undefined) {
    const member = members.find((_, index) => shapeErrorMember.value === 1 << index) ?? '';
    return new ReadError('bad_shape', describe(member), shapeErrorOffset.value);
  }
  const missing = members.find((_, index) => (seenMembers.value & (1 << index)) === 0) ?? '';
  const message = `Expected a member "${missing}", found none`;
  return new ReadError('bad_shape', message, exports.receivedBytes());
}

function describeByte(byte: number): string {
  const hex = `0x${byte.toString(16).padStart(2, '0')}`;
  return byte > 0x20 && byte < 0x7f ? `"${String.fromCharCode(byte)}" (${hex})` : hex;
}
