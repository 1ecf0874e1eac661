/** The code of a system or Node.js error, such as `ENOSPC` or `ERR_OSSL_PEM_NO_START_LINE`. */
export function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

const RESOURCE_ERROR_CODES: readonly string[] = [
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'ENOBUFS',
  'EAI_MEMORY',
  'Z_MEM_ERROR',
  'ERR_ZLIB_INITIALIZATION_FAILED',
  'ERR_MEMORY_ALLOCATION_FAILED',
];

/** Whether the process got no file descriptor or no memory. V8 reports the latter as a `RangeError`. */
export function isResourceError(error: unknown): boolean {
  return error instanceof RangeError
    ? /out of memory|allocation failed/i.test(error.message)
    : RESOURCE_ERROR_CODES.includes(getErrorCode(error) ?? '');
}

export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
