import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getErrorMessage } from '../../src/runtime/errors.ts';

/** Returns the path of a file under `test/fixtures`. */
export function fixturePath(name: string): string {
  return fileURLToPath(new URL(`../../../test/fixtures/${name}`, import.meta.url));
}

/** Reads a file under `test/fixtures`. */
export function readFixture(name: string): Buffer {
  return readFileSync(fixturePath(name));
}

/** Reads a certificate of `test/fixtures/tls` and its key. */
export function readIdentity(name: string): { readonly cert: string; readonly key: string } {
  return {
    cert: readFixture(`tls/${name}.pem`).toString(),
    key: readFixture(`tls/${name}.key`).toString(),
  };
}

/** Asserts that a text equals a golden file. With `UPDATE_GOLDEN=1`, writes the file instead. */
export function assertGolden(name: string, actual: string): void {
  const path = fixturePath(name);
  if (process.env['UPDATE_GOLDEN'] === '1') {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, actual);
  }
  try {
    assert.deepEqual(actual.split('\n'), readFileSync(path, 'utf8').split('\n'));
  } catch (error) {
    // The message has the lines that differ; the error itself would be printed with all lines.
    assert.fail(`test/fixtures/${name} differs; UPDATE_GOLDEN=1 rewrites it\n${getErrorMessage(error)}`);
  }
}
