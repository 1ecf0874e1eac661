import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseCodeFile } from './code-file.ts';
import type { CodeFile } from './code-lists.ts';
import type { ReadFile } from './files.ts';
import { isMissing, pathFrom, unreadable } from './files.ts';
import { inBatches } from './in-batches.ts';
import type { Merged } from './layers.ts';
import type { Problem } from './problem.ts';
import { mismatch } from './problem.ts';

/** How the files that `service_code_files` stands for are found and read. */
export interface CodeFileAccess {
  readonly readFile: ReadFile;
  /** The files that a path with `*` stands for. */
  readonly filesMatching: (glob: string) => Promise<readonly string[]>;
}

export interface CodeFiles {
  /** In the order of the setting, and of the names of the files. */
  readonly files: readonly CodeFile[];
  readonly problems: readonly Problem[];
}

/** Remembers what was parsed, as long as the text stays the same: of thousands of codes, few change at a time. */
export class CodeFileMemory {
  #parsed = new Map<string, { readonly text: string; readonly result: CodeFile | readonly Problem[] }>();

  /** Parses a text, if it has to. */
  parse(text: string, path: string): CodeFile | readonly Problem[] {
    const known = this.#parsed.get(path);
    if (known?.text === text) return known.result;
    const result = parseCodeFile(text, path);
    this.#parsed.set(path, { text, result });
    return result;
  }

  /** Forgets all files but these. */
  keepOnly(paths: readonly string[]): void {
    const kept = new Set(paths);
    this.#parsed = new Map([...this.#parsed].filter(([path]) => kept.has(path)));
  }
}

/** A file and the place that names it. */
interface NamedFile {
  readonly path: string;
  readonly place: string;
}

/** Reads the files of service codes. One that is not there is none: it may come. */
export async function readCodeFiles(
  settings: Merged,
  access: CodeFileAccess,
  memory: CodeFileMemory,
): Promise<CodeFiles> {
  const globs = settings.find('service_code_files') ?? [];
  const named = await inBatches([...globs.entries()], ([index, glob]) =>
    findFiles(glob, index, settings, access),
  );
  // Two paths may stand for the same file.
  const files = new Map(named.flatMap(({ files: some }) => some.map((file) => [file.path, file])));
  const results: (CodeFile | Problem)[] = [];
  for (const file of files.values()) results.push(...(await readCodeFile(file, access.readFile, memory)));
  memory.keepOnly([...files.keys()]);
  return {
    files: results.filter((result) => 'codes' in result),
    problems: [
      ...named.flatMap(({ problems }) => problems),
      ...results.filter((result) => 'message' in result),
    ],
  };
}

async function findFiles(
  glob: string,
  index: number,
  settings: Merged,
  access: CodeFileAccess,
): Promise<{ readonly files: readonly NamedFile[]; readonly problems: readonly Problem[] }> {
  const origin = settings.origin('service_code_files');
  const place = origin?.place([index]) ?? 'service_code_files';
  const path = pathFrom(origin?.folder, glob);
  try {
    const paths = await access.filesMatching(path);
    return { files: paths.map((found) => ({ path: found, place })), problems: [] };
  } catch (error) {
    return {
      files: [],
      problems: [{ place, message: mismatch('a readable folder', unreadable(path, error)) }],
    };
  }
}

async function readCodeFile(
  { path, place }: NamedFile,
  readFile: ReadFile,
  memory: CodeFileMemory,
): Promise<readonly (CodeFile | Problem)[]> {
  try {
    const text = await readFile(path);
    // Between two files, whatever else waits has its turn.
    await nextTurn();
    return [memory.parse(text, path)].flat();
  } catch (error) {
    if (isMissing(error)) return [];
    return [{ place, message: mismatch('a readable file', unreadable(path, error)) }];
  }
}
