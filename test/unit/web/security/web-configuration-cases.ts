import { readFixture } from '../../../support/fixtures.ts';

/** A bcrypt hash, of cost 10. */
export const HASH = '$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi';

/** A web configuration file in the folder of the test certificates, and its expected outcome. */
export interface WebConfigurationCase {
  /** With how promtool differs, if it does. */
  readonly name: string;
  readonly yml: string;
  /** The error message without the path; `undefined` if the file is accepted. */
  readonly rejection: string | undefined;
}

/** Sections of a name, the text of a file, and the line of its message unless the file is valid. */
const SECTION = /^=== (.*)\n((?:(?!>>>|===).*\n)*)(?:>>> (.*)\n)?/gm;

export const CASES: readonly WebConfigurationCase[] = Array.from(
  readFixture('web/configurations.txt').toString().matchAll(SECTION),
  ([, name = '', yml = '', rejection]) => ({ name, yml, rejection }),
);
