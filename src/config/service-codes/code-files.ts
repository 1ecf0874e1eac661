import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { mapConcurrent } from '../../runtime/concurrency.ts';
import type { Problem } from '../config-error.ts';
import { describeKind, expectedFound } from '../config-error.ts';
import type { ReadFile } from '../files.ts';
import { describeReadError, isMissing, resolvePath } from '../files.ts';
import { createLocator } from '../settings-file.ts';
import type { MergedSettings } from '../sources.ts';
import { toProblems, type Locate, type ValuePath } from '../validation.ts';
import { parseYaml } from '../yaml-source.ts';
import { serviceCodeList, type ServiceCodeEntry } from './schema.ts';

/** Service codes of one source: the setting, or a file. */
export interface CodeList {
  readonly codes: readonly ServiceCodeEntry[];
  /** Folder for relative paths; undefined for the working directory. */
  readonly folder: string | undefined;
  /** Formats the location of an entry, or of a part of it. */
  locate(this: void, inner: ValuePath): string;
}

/** The service codes of a file. */
export interface CodeFile extends CodeList {
  readonly file: string;
}

/** Finds and reads the files of `service_code_files`. */
export interface CodeFileAccess {
  readonly readFile: ReadFile;
  /** Lists the files that match a path with `*`. */
  readonly findMatchingFiles: (glob: string) => Promise<readonly string[]>;
}

export interface CodeFilesResult {
  /** In the order of the setting, then of the file names. */
  readonly files: readonly CodeFile[];
  /** Paths of the setting, resolved, that match no existing file. */
  readonly unmatchedPatterns: readonly string[];
  readonly problems: readonly Problem[];
}

/** Caches parsed files while their text stays the same: of thousands of files, few change between reloads. */
export class CodeFileCache {
  #entries = new Map<string, { readonly text: string; readonly result: CodeFile | readonly Problem[] }>();

  parse(text: string, path: string): CodeFile | readonly Problem[] {
    const cached = this.#entries.get(path);
    if (cached?.text === text) return cached.result;
    const result = parseCodeFile(text, path);
    this.#entries.set(path, { text, result });
    return result;
  }

  evictExcept(paths: readonly string[]): void {
    const kept = new Set(paths);
    this.#entries = new Map([...this.#entries].filter(([path]) => kept.has(path)));
  }
}

/** A file, and the location of the setting that names it. */
interface ListedFile {
  readonly path: string;
  readonly location: string;
}

/** Reads the service code files. A missing file counts as empty: it may be created later. */
export async function readCodeFiles(
  settings: MergedSettings,
  access: CodeFileAccess,
  cache: CodeFileCache,
): Promise<CodeFilesResult> {
  const globs = settings.get('service_code_files') ?? [];
  const listed = await mapConcurrent([...globs.entries()], ([index, glob]) =>
    findFiles(glob, index, settings, access),
  );
  // Two paths may match the same file.
  const files = new Map(listed.flatMap((result) => result.files.map((file) => [file.path, file])));
  const results: (CodeFile | Problem)[] = [];
  const missing = new Set<string>();
  for (const file of files.values()) {
    const read = await readCodeFile(file, access.readFile, cache);
    if (read === undefined) missing.add(file.path);
    // Not `push(...read)`: a file may have more mistakes than a call can have arguments.
    else for (const result of read) results.push(result);
  }
  cache.evictExcept([...files.keys()]);
  return {
    files: results.filter((result) => 'codes' in result),
    unmatchedPatterns: listed
      .filter((result) => result.files.every(({ path }) => missing.has(path)))
      .map(({ pattern }) => pattern),
    problems: [
      ...listed.flatMap(({ problems }) => problems),
      ...results.filter((result) => 'message' in result),
    ],
  };
}

/** The files that match a path of the setting. */
interface MatchingFiles {
  /** The path, resolved. */
  readonly pattern: string;
  readonly files: readonly ListedFile[];
  readonly problems: readonly Problem[];
}

async function findFiles(
  glob: string,
  index: number,
  settings: MergedSettings,
  access: CodeFileAccess,
): Promise<MatchingFiles> {
  const location = settings.locate('service_code_files', [index]);
  const pattern = resolvePath(settings.origin('service_code_files')?.folder, glob);
  try {
    const paths = await access.findMatchingFiles(pattern);
    return { pattern, files: paths.map((match) => ({ path: match, location })), problems: [] };
  } catch (error) {
    const message = expectedFound('a readable folder', describeReadError(pattern, error));
    return { pattern, files: [], problems: [{ location, message }] };
  }
}

/** Returns undefined if the file does not exist. */
async function readCodeFile(
  { path, location }: ListedFile,
  readFile: ReadFile,
  cache: CodeFileCache,
): Promise<readonly (CodeFile | Problem)[] | undefined> {
  try {
    const text = await readFile(path);
    // Parsing is synchronous: let polls and scrapes run between two files.
    await nextTurn();
    return [cache.parse(text, path)].flat();
  } catch (error) {
    if (isMissing(error)) return undefined;
    return [{ location, message: expectedFound('a readable file', describeReadError(path, error)) }];
  }
}

function parseCodeFile(text: string, file: string): CodeFile | readonly Problem[] {
  const source = tryParseJsonList(text) ?? parseYaml(text, file);
  if ('message' in source) return [source];
  const locate = createLazyLocator(text, file);
  const { value } = source;
  if (!Array.isArray(value)) {
    const remedy = value === null || value === undefined ? 'write [] for an empty list' : undefined;
    // The value is not shown: it may be a secret.
    const message = expectedFound('a list of service codes', describeKind(value), remedy);
    return [{ location: locate([]), message }];
  }
  const parsed = serviceCodeList.safeParse(value);
  return parsed.success
    ? { codes: parsed.data, folder: dirname(file), file, locate }
    : toProblems(parsed.error, locate);
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
 * Parses a JSON list with `JSON.parse`, about 30 times faster than the YAML parser (10,000 service codes:
 * 0.2 s rather than 7 s). Gives `undefined` where the YAML
 * parser has to report a mistake, such as a duplicate key, of which `JSON.parse` would silently take the last.
 */
function tryParseJsonList(text: string): { readonly value: unknown } | undefined {
  if (!/^\s*\[/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    let keysInText = 0;
    for (const [, colon] of text.matchAll(JSON_STRING)) keysInText += colon === undefined ? 0 : 1;
    return keysInText === countKeys(value) ? { value } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function countKeys(root: unknown): number {
  let count = 0;
  const pending = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) continue;
    const children: readonly unknown[] = Object.values(value);
    if (!Array.isArray(value)) count += children.length;
    for (const child of children) pending.push(child);
  }
  return count;
}
