/** The code of a system or Node.js error, such as `ENOSPC` or `ERR_OSSL_PEM_NO_START_LINE`; `undefined` if it has none. */
export function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The message of an error, or the thrown value as text. */
export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
