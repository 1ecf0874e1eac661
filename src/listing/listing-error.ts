/** `not_json`: the body is not JSON. `bad_shape`: it is JSON, but no listing. */
export type ListingErrorCode = 'not_json' | 'bad_shape';

/** A body that is no listing. The message names the byte and holds at most one byte of the body. */
export class ListingError extends Error {
  override readonly name = 'ListingError';
  readonly code: ListingErrorCode;
  /** Offset from the start of the (decompressed) body. */
  readonly byte: number;

  constructor(code: ListingErrorCode, message: string, byte: number) {
    super(`${message} at byte ${byte}`);
    this.code = code;
    this.byte = byte;
  }
}
