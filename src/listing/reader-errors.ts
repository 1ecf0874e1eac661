import { ListingError } from './listing-error.ts';
import type { ModuleExports } from './module-exports.ts';

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

const NOT_JSON = 1;
const BAD_SHAPE = 2;
const TOKEN_TOO_LONG = 3;

/** The members of a listing, as bits of the module. */
const MEMBERS = [
  [1, 'ret'],
  [2, 'user_list'],
  [4, 'task_list'],
] as const;

/** Why JSON is not a listing, in the order of `reader.ts` of the module. */
const SHAPE_ERRORS: readonly ((member: string) => string)[] = [
  () => 'Expected an object as the body, found another value',
  (member) => `Expected one member "${member}", found a duplicate`,
  (member) => `Expected an array as "${member}", found another value`,
  (member) => `Expected an integer as "${member}", found another value`,
];

/** Result of a call that did not fail. */
export const GOOD = 0;

/** Whether the body is complete JSON that is not a listing: with a `ret` other than 0, that is no error. */
export function isBadShape(outcome: number): boolean {
  return outcome === BAD_SHAPE;
}

/** Creates the error for the result of a call other than {@link GOOD}. */
export function createListingError(
  outcome: number,
  exports: ModuleExports,
  maxEntryBytes: number,
): ListingError {
  if (outcome === NOT_JSON) return createSyntaxError(exports);
  if (outcome === BAD_SHAPE) return createShapeError(exports);
  if (outcome === TOKEN_TOO_LONG) {
    const message = `Expected a token of at most ${maxEntryBytes} bytes`;
    return new ListingError('bad_shape', message, exports.consumedBytes());
  }
  return new ListingError(
    'not_json',
    'Expected more input, found the end of the body',
    exports.receivedBytes(),
  );
}

function createSyntaxError({ expectation, failureOffset, failureByte }: ModuleExports): ListingError {
  const expected = EXPECTATIONS[expectation.value];
  const message =
    expected === undefined
      ? `Expected at most ${MAX_DEPTH} levels of nesting`
      : `Expected ${expected}, found ${describeByte(failureByte())}`;
  return new ListingError('not_json', message, failureOffset());
}

function createShapeError(exports: ModuleExports): ListingError {
  const { seenMembers, shapeError, shapeErrorMember, shapeErrorOffset } = exports;
  const describe = SHAPE_ERRORS[shapeError.value - 1];
  if (describe !== undefined) {
    const member = MEMBERS.find(([bit]) => bit === shapeErrorMember.value)?.[1] ?? '';
    return new ListingError('bad_shape', describe(member), shapeErrorOffset.value);
  }
  const missing = MEMBERS.find(([bit]) => (seenMembers.value & bit) === 0)?.[1] ?? '';
  const message = `Expected a member "${missing}", found none`;
  return new ListingError('bad_shape', message, exports.receivedBytes());
}

function describeByte(byte: number): string {
  const hex = `0x${byte.toString(16).padStart(2, '0')}`;
  return byte > 0x20 && byte < 0x7f ? `"${String.fromCharCode(byte)}" (${hex})` : hex;
}
