import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createReaderLimits } from '../listing/reader-limits.ts';
import { type ReaderKeys, ReaderPool } from '../listing/reader.ts';
import { getErrorMessage } from '../runtime/errors.ts';

/** Where `npm run build` puts the module. */
const MODULE_URL = new URL('../json-columns/reader.wasm', import.meta.url);

/** The reader's module is missing or corrupt. The message names the file and the remedy. */
export class ReaderModuleError extends Error {
  override readonly name = 'ReaderModuleError';
}

let compiled: WebAssembly.Module | undefined;

/**
 * Compiles the reader's module, once per process.
 *
 * @throws ReaderModuleError
 */
export function loadReaderModule(url = MODULE_URL): WebAssembly.Module {
  if (url !== MODULE_URL) return compile(url);
  compiled ??= compile(url);
  return compiled;
}

/** Creates a pool of instances of the module, and loads it if need be. */
export function openReaderPool(maxLabelSets: number): ReaderPool {
  return new ReaderPool(loadReaderModule(), createReaderLimits(maxLabelSets), createReaderKeys());
}

function createReaderKeys(): ReaderKeys {
  const random = randomBytes(28);
  return {
    engine: [random.readBigUInt64LE(0), random.readBigUInt64LE(8)],
    rows: [random.readInt32LE(16), random.readInt32LE(20), random.readInt32LE(24)],
  };
}

function compile(url: URL): WebAssembly.Module {
  try {
    return new WebAssembly.Module(readFileSync(url));
  } catch (cause) {
    const problem = getErrorMessage(cause);
    const message =
      `reader module: expected a WebAssembly module at ${fileURLToPath(url)}, found ${problem}; ` +
      'install the package again or run "npm run build"';
    throw new ReaderModuleError(message, { cause });
  }
}
