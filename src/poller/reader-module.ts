import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { ReaderKeys } from '../listing/listing-sums.ts';
import { createReaderLimits } from '../listing/reader-limits.ts';
import { ReaderPool } from '../listing/reader.ts';
import { getErrorMessage } from '../runtime/errors.ts';
import { MAX_LISTING_ACCOUNTS } from '../runtime/limits.ts';

/** Where `npm run build` puts the module. */
const MODULE_URL = new URL('../json-columns/reader.wasm', import.meta.url);

/** The reader's module cannot run, or is missing or corrupt. The message says why. */
export class ReaderModuleError extends Error {
  override readonly name = 'ReaderModuleError';
}

const compiled = new Map<string, WebAssembly.Module>();

/** Compiles a module of the reader, once per process; throws a ReaderModuleError. */
export function loadReaderModule(url = MODULE_URL, byteOrder = endianness()): WebAssembly.Module {
  // The memory of a module is little-endian, the arrays through which it is read are as the processor.
  if (byteOrder === 'BE')
    throw new ReaderModuleError(
      `reader module: expected a little-endian processor, found ${process.arch}; run it on another one`,
    );
  try {
    const module = compiled.get(url.href) ?? new WebAssembly.Module(readFileSync(url));
    compiled.set(url.href, module);
    return module;
  } catch (cause) {
    const message =
      `reader module: expected a WebAssembly module at ${fileURLToPath(url)}, found ${getErrorMessage(cause)}; ` +
      'install the package again or run "npm run build"';
    throw new ReaderModuleError(message, { cause });
  }
}

/** Random bytes for the keys of a pool. */
export const READER_KEY_BYTES = 28;

/** Needs {@link READER_KEY_BYTES} random bytes. */
export function openReaderPool(maxLabelSets: number, random: Buffer): ReaderPool {
  const keys: ReaderKeys = {
    engine: [random.readBigUInt64LE(0), random.readBigUInt64LE(8)],
    rows: [random.readInt32LE(16), random.readInt32LE(20), random.readInt32LE(24)],
  };
  return new ReaderPool(loadReaderModule(), createReaderLimits(maxLabelSets, MAX_LISTING_ACCOUNTS), keys);
}
