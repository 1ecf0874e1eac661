import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';

/** The HTTP clients of Node.js and undici have a memory each, and so has the reader of a listing. */
const MEMORIES = 3;

/** Pages of 64 KiB that the reader can use: 512 MiB, as `scripts/build-json-columns.mjs` sets it. */
export const MAX_PAGES = 8192;

const REMEDY = 'raise it (ulimit -v, LimitAS) or set NODE_OPTIONS=--disable-wasm-trap-handler';

/** Says why no poll can succeed in this process: it has no WebAssembly, or no address space for it. */
export function prepareWebAssembly(): string | undefined {
  if (typeof WebAssembly === 'undefined')
    return 'expected WebAssembly, found none; start Node.js without --jitless and --no-expose-wasm';
  // Without trap handler, memories would take up to 4 GiB each, and leave too little for the heap.
  setFlagsFromString(`--wasm-max-mem-pages=${MAX_PAGES}`);
  try {
    // Freed by the garbage collection that V8 tries before it fails.
    Array.from({ length: MEMORIES }, () => new WebAssembly.Memory({ initial: 1, maximum: 1 }));
    return undefined;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return `expected 31 GiB of address space, 10 GiB for each WebAssembly memory, found ${describeLimit()}; ${REMEDY}`;
  }
}

/** The remedy for a poll that gets no memory of WebAssembly beside others. */
export function describeAddressSpace(): string {
  return `WebAssembly reserves 10 GiB of address space for each poll under way; the process has ${describeLimit()}: ${REMEDY}.`;
}

function describeLimit(): string {
  const bytes = Number(/^Max address space +(\d+)/m.exec(readLimits())?.[1]);
  return Number.isNaN(bytes) ? 'less' : `a limit of ${Number((bytes / 1024 ** 3).toFixed(1))} GiB`;
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    // Only Linux has the file.
    return '';
  }
}
