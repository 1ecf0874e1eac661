import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes of the heap that are in use after all garbage has been collected. */
export function measureHeapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collectGarbage: unknown = runInNewContext('gc');
  if (typeof collectGarbage !== 'function') throw new TypeError('Expected a gc(), found none');
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
