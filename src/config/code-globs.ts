import { basename, dirname, join } from 'node:path';
import type { ConfigurationFiles } from './files.ts';
import { isMissing } from './files.ts';
import type { Format, Parsed } from './format.ts';
import { accept, reject, splitList } from './format.ts';

const EXPECTED =
  'the path of a YAML or JSON file (.yml, .yaml, .json), with "*" for any characters of its name';
const ENDING = /\.(?:ya?ml|json)$/i;

/** As `file_sd` of Prometheus takes them: an ending of the kind, and `*` in the last part alone. */
function parseGlob(raw: unknown): Parsed<string> {
  if (typeof raw !== 'string') return reject(EXPECTED, raw);
  if (dirname(raw).includes('*'))
    return reject(EXPECTED, raw, 'folders cannot have it: name each with a path of its own');
  return ENDING.test(raw) ? accept(raw) : reject(EXPECTED, raw);
}

/** Paths of files of service codes: a text with commas, or a list. */
export const codeGlobList: Format<readonly string[]> = {
  name: 'comma-separated paths',
  parse(raw) {
    const parsed = splitList(raw).map(parseGlob);
    const issues = parsed.flatMap((result, index) =>
      result.ok ? [] : result.issues.map((issue) => ({ ...issue, path: [index] })),
    );
    if (issues.length > 0) return { ok: false, issues };
    const globs = parsed.flatMap((result) => (result.ok ? [result.value] : []));
    return globs.length > 0 ? accept(globs) : reject('at least one path', raw);
  },
};

/**
 * The files that a path stands for now, in the order of their names. One without `*` stands for itself, whether it is
 * there or not; `*` takes no name that begins with a dot: editors and Kubernetes hide theirs so. A folder that does not
 * exist has no files.
 */
export async function filesMatching(
  glob: string,
  listFolder: ConfigurationFiles['listFolder'],
): Promise<readonly string[]> {
  const pattern = basename(glob);
  if (!pattern.includes('*')) return [glob];
  const folder = dirname(glob);
  const isWanted = wildcard(pattern);
  const names = await listFolder(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  return names
    .filter((name) => isWanted.test(name))
    .toSorted()
    .map((name) => join(folder, name));
}

function wildcard(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${pattern.startsWith('*') ? String.raw`(?!\.)` : ''}${parts.join('.*')}$`, 's');
}
