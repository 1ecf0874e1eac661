// Compiles the reader's WebAssembly module: build-reader.mjs FOLDER [--debug]. Writes FOLDER/reader.wasm, or with `--debug`
// FOLDER/reader.debug.wasm and its source map, a build that checks every address. Does nothing if the file is newer than its
// sources.
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from 'assemblyscript/asc';

/** 512 MiB, in pages of 64 KiB. */
const MAX_PAGES = 8192;

const sources = fileURLToPath(new URL('../src/listing/wasm/', import.meta.url));
const [folder, flag] = process.argv.slice(2);
const isDebug = flag === '--debug';
const output = join(folder, isDebug ? 'reader.debug.wasm' : 'reader.wasm');

const modifiedMs = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

function isUpToDate() {
  const inputs = [...readdirSync(sources).map((name) => join(sources, name)), fileURLToPath(import.meta.url)];
  return inputs.every((path) => modifiedMs(path) < modifiedMs(output));
}

async function compile() {
  mkdirSync(folder, { recursive: true });
  const release = ['-O3', '--converge', '--noAssert'];
  const debug = ['-O1', '--sourceMap', '--debug'];
  const { error, stderr } = await main([
    join(sources, 'reader.ts'),
    '--outFile',
    output,
    '--runtime',
    'stub',
    '--enable',
    'simd',
    '--maximumMemory',
    String(MAX_PAGES),
    // The module does not import or export values of 16 bytes.
    '--disableWarning',
    '112',
    ...(isDebug ? debug : release),
  ]);
  process.stderr.write(stderr.toBuffer());
  if (error !== null) process.exitCode = 1;
}

if (!isUpToDate()) await compile();
