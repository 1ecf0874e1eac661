import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describeKind, expectedFound, formatValue, type Problem } from '../config-error.ts';
import type { Shard } from '../../sharding/shard.ts';
import { describeReadError, isMissing, resolvePath, type ReadFile } from '../files.ts';
import type { MergedSettings } from '../sources.ts';
import { toProblems, type Locate } from '../validation.ts';
import { createLocator, parseYaml } from '../yaml-source.ts';
import { listCodes, type CodeList } from './code-list.ts';
import { serviceCodeList, type ServiceCodeEntry } from './schema.ts';

/** The path of a file of service codes. */
interface CodeFilePath {
  readonly path: string;
  /** The path as configured, with the name of the file where the configured one has a pattern. */
  readonly name: string;
  /** The path of the setting that it matches, resolved. */
  readonly pattern: string;
}

/** A file of service codes. */
export interface CodeFile extends CodeFilePath, CodeList {
  /** What `codes` were parsed from; `undefined` if the file has never been good. */
  readonly text: string | undefined;
  /** The mistakes of a bad file, whose `codes` are those of its last good version. */
  readonly problems: readonly Problem[];
}

/** What reading the files of `service_code_files` needs. */
export interface CodeFileAccess {
  readonly readFile: ReadFile;
  /** Lists the files that match a path with `*`. */
  readonly findMatchingFiles: (glob: string) => Promise<readonly string[]>;
  readonly shard: Shard;
  /** The files in effect, by path. */
  readonly applied: ReadonlyMap<string, CodeFile>;
}

/**
 * Reads the service code files, in the order of the setting, then of their names. A missing file counts as empty: it may be
 * created later. `unmatchedPatterns` are the paths of the setting, resolved, that match no existing file.
 */
export async function readCodeFiles(
  settings: MergedSettings,
  access: CodeFileAccess,
): Promise<{ readonly files: readonly CodeFile[]; readonly unmatchedPatterns: readonly string[] }> {
  const folder = settings.origin('service_code_files')?.folder;
  const files = new Map<string, CodeFile>();
  const unmatchedPatterns: string[] = [];
  for (const [index, glob] of (settings.get('service_code_files') ?? []).entries()) {
    const location = settings.locate('service_code_files', [index]);
    const pattern = resolvePath(folder, glob);
    const matches = await readMatchingFiles(glob, pattern, location, access);
    if (matches.length === 0) unmatchedPatterns.push(pattern);
    // Two paths may match the same file.
    for (const file of matches) if (!files.has(file.path)) files.set(file.path, file);
  }
  return { files: [...files.values()], unmatchedPatterns };
}

/** A folder that cannot be read is a bad file, and so are all its files that were read before. */
async function readMatchingFiles(
  glob: string,
  pattern: string,
  location: string,
  access: CodeFileAccess,
): Promise<readonly CodeFile[]> {
  const files: CodeFile[] = [];
  try {
    for (const path of await access.findMatchingFiles(pattern)) {
      const name = glob.includes('*') ? join(dirname(glob), basename(path)) : glob;
      const file = await readCodeFile({ path, name, pattern }, location, access);
      if (file !== undefined) files.push(file);
    }
    return files;
  } catch (error) {
    const message = expectedFound('a readable folder', describeReadError(formatValue(pattern), error));
    const folder = keepCodes({ path: pattern, name: glob, pattern }, [{ location, message }], access);
    const inFolder = [...access.applied.values()].filter((file) => file.pattern === pattern);
    return [folder, ...inFolder.map((file) => keepCodes(file, [], access))];
  }
}

/** A bad file: the codes of its last good version, if there is one, stay in effect. */
export function keepCodes(
  { path, name, pattern }: CodeFilePath,
  problems: readonly Problem[],
  { applied }: Pick<CodeFileAccess, 'applied'>,
): CodeFile {
  const lastGood = applied.get(path) ?? { codes: [], locate: () => path, text: undefined };
  return { ...lastGood, path, name, pattern, problems, isInEffect: true };
}

/** Returns undefined if the file does not exist. */
async function readCodeFile(
  file: CodeFilePath,
  location: string,
  access: CodeFileAccess,
): Promise<CodeFile | undefined> {
  const { path } = file;
  const lastGood = access.applied.get(path);
  let text: string;
  try {
    text = await access.readFile(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    const message = expectedFound('a readable file', describeReadError(formatValue(path), error));
    return keepCodes(file, [{ location, message }], access);
  }
  const isInEffect = text === lastGood?.text;
  // Parsing is synchronous: let polls and scrapes run between two files.
  if (!isInEffect) await nextTurn();
  const locate = createLazyLocator(text, path);
  const parsed = isInEffect
    ? { entries: lastGood.codes.map(({ entry }) => entry) }
    : parseCodeFile(text, path, locate);
  if ('problems' in parsed) return keepCodes(file, parsed.problems, access);
  const codes = await listCodes(parsed.entries, { locate, folder: dirname(path) }, access);
  return { ...file, codes, locate, text, problems: [], isInEffect };
}

function parseCodeFile(
  text: string,
  path: string,
  locate: Locate,
): { readonly entries: readonly ServiceCodeEntry[] } | { readonly problems: readonly Problem[] } {
  const source = tryParseJsonList(text) ?? parseYaml(text, path);
  if ('message' in source) return { problems: [source] };
  const { value } = source;
  if (!Array.isArray(value)) {
    const remedy = value === null || value === undefined ? 'write [] for an empty list' : undefined;
    // The value is not shown: it may be a secret.
    const message = expectedFound('a list of service codes', describeKind(value), remedy);
    return { problems: [{ location: locate([]), message }] };
  }
  const { success, data, error } = serviceCodeList.safeParse(value);
  return success ? { entries: data } : { problems: toProblems(error, locate) };
}

/** Parses the text again on first use: locations are only needed for messages and take much of a long file's memory. */
function createLazyLocator(text: string, file: string): Locate {
  let locate: Locate | undefined;
  return (path, isKey) => {
    if (locate === undefined) {
      const source = parseYaml(text, file);
      locate = 'message' in source ? () => file : createLocator(source, []);
    }
    return locate(path, isKey);
  };
}

/** Every string of a JSON document, with the colon that makes it a key. */
const JSON_STRING = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;

/**
 * Parses a JSON list with `JSON.parse`, about 30 times faster than the YAML parser (10,000 service codes: 0.2 s rather
 * than 7 s). Gives `undefined` where the YAML parser has to report a mistake, such as a duplicate key, of which
 * `JSON.parse` would silently take the last.
 */
function tryParseJsonList(text: string): { readonly value: unknown } | undefined {
  if (!/^\s*\[/.test(text)) return undefined;
  let keyCount = 0;
  for (const [, colon] of text.matchAll(JSON_STRING)) keyCount += colon === undefined ? 0 : 1;
  try {
    const value: unknown = JSON.parse(text, (_key, part: unknown) => {
      if (typeof part === 'object' && part !== null && !Array.isArray(part))
        keyCount -= Object.keys(part).length;
      return part;
    });
    return keyCount === 0 ? { value } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
