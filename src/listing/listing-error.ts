/**
 * `not_json`: the body is not JSON. `bad_shape`: the body is JSON but not a listing. `internal`: the reader could not read the
 * body because of a defect.
 */
export type ListingErrorCode = 'not_json' | 'bad_shape' | 'internal';

/** A body is not a listing. The message names the byte offset and quotes at most one byte of the body. */
export class ListingError extends Error {
  override readonly name = 'ListingError';
  readonly code: ListingErrorCode;
  /** Offset from the start of the decompressed body. */
  readonly byteOffset: number;

  constructor(code: ListingErrorCode, message: string, byte: number, options?: ErrorOptions) {
    super(`${message} at byte ${byte}`, options);
    this.code = code;
    this.byteOffset = byte;
  }
}
