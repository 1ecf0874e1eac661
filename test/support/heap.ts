import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects all garbage and returns the used bytes of the heap. */
export function measureHeapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collectGarbage: unknown = runInNewContext('gc');
  if (typeof collectGarbage !== 'function') throw new TypeError('Expected a function gc, found none');
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
