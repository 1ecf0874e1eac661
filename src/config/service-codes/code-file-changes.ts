import type { Logger } from '../../runtime/logger.ts';
import type { LoadResult } from '../loader.ts';

/** Changes of the service code files that may be mistakes. */
export interface CodeFileChanges {
  /** Paths of `service_code_files` that match no existing file, and did match one at the previous load. */
  readonly unmatchedPatterns: readonly string[];
  /** How many codes each file had that no file or setting has any more. */
  readonly disappearedByFile: ReadonlyMap<string, number>;
}

export const NO_CODE_FILE_CHANGES: CodeFileChanges = { unmatchedPatterns: [], disappearedByFile: new Map() };

type LoadedFiles = Pick<LoadResult, 'codeFiles' | 'unmatchedPatterns'>;

/** Compares two loads; without a previous one, every path that matches no file is a change. */
export function compareCodeFiles(previous: LoadedFiles | undefined, current: LoadResult): CodeFileChanges {
  const known = new Set(previous?.unmatchedPatterns);
  const lists = [current.settings.get('service_codes') ?? [], ...current.codeFiles.map(({ codes }) => codes)];
  const codes = new Set(lists.flatMap((list) => list.map(({ service_code }) => service_code)));
  const disappeared = (previous?.codeFiles ?? []).map((list) => {
    const count = list.codes.filter(({ service_code }) => !codes.has(service_code)).length;
    return [list.file, count] as const;
  });
  return {
    unmatchedPatterns: current.unmatchedPatterns.filter((pattern) => !known.has(pattern)),
    disappearedByFile: new Map(disappeared.filter(([, count]) => count > 0)),
  };
}

/** Thousands of files may lose codes in one reload. */
const MAX_LOGGED_FILES = 10;

/** Logs the changes as warnings. */
export function logCodeFileChanges(
  { unmatchedPatterns, disappearedByFile }: CodeFileChanges,
  logger: Logger,
): void {
  for (const pattern of unmatchedPatterns)
    logger.warn({ pattern }, 'Pattern in service_code_files matches no file');
  if (disappearedByFile.size === 0) return;
  const files = [...disappearedByFile].toSorted(([, a], [, b]) => b - a);
  const fields = {
    count: files.reduce((sum, [, count]) => sum + count, 0),
    files: Object.fromEntries(files.slice(0, MAX_LOGGED_FILES)),
    ...(files.length > MAX_LOGGED_FILES && { more_files: files.length - MAX_LOGGED_FILES }),
  };
  logger.warn(fields, 'Service codes disappeared from files');
}
