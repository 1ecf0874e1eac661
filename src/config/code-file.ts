import { dirname } from 'node:path';
import type { CodeFile } from './code-lists.ts';
import type { InnerPath } from './format.ts';
import { valueOfJson } from './json-source.ts';
import type { Problem } from './problem.ts';
import { kindOf, mismatch } from './problem.ts';
import { serviceCodeList } from './service-codes.ts';
import { placeIn } from './settings-file.ts';
import { parseYaml } from './yaml-source.ts';

/** The service codes of a file, or all that is wrong with them; `file` is its path. */
export function parseCodeFile(text: string, file: string): CodeFile | readonly Problem[] {
  const read = valueOfJson(text) ?? parseYaml(text, file);
  if ('message' in read) return [read];
  const place = lazyPlace(text, file);
  const { value } = read;
  if (!Array.isArray(value)) {
    const hint = value === null || value === undefined ? 'write [] where there is none' : undefined;
    // Not shown: what stands here may be anything, a secret too.
    return [{ place: place([]), message: mismatch('a list of service codes', kindOf(value), hint) }];
  }
  const parsed = serviceCodeList.parse(value);
  if (parsed.ok) return { codes: parsed.value, folder: dirname(file), file, place };
  return parsed.issues.map(({ path, message, ofKey }) => ({ place: place(path, ofKey), message }));
}

/** Places are asked for where something is wrong: what they take, which is much of a long file, is made only then. */
function lazyPlace(text: string, file: string): (inner: InnerPath, ofKey?: boolean) => string {
  let known: ReturnType<typeof placeIn> | undefined;
  return (inner, ofKey) => {
    if (known === undefined) {
      const source = parseYaml(text, file);
      known = 'message' in source ? () => file : placeIn(source, []);
    }
    return known(inner, ofKey);
  };
}
