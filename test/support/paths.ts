import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The top of the checkout; the compiled tests run from `build/test/support`. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The bytes of a file under `test/fixtures`. */
export function fixture(name: string): Buffer {
  return readFileSync(`${ROOT}test/fixtures/${name}`);
}
