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

const compiled = new Map<string, WebAssembly.Module>();

/** Compiles a module of the reader, once per process; throws a ReaderModuleError. */
export function loadReaderModule(url = MODULE_URL): WebAssembly.Module {
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
