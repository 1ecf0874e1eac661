/** JSON text of arrays within objects within arrays, so many levels deep. */
export function deepArray(depth: number): string {
  return '[{"":'.repeat(depth) + '0' + '}]'.repeat(depth);
}
