import { basename, dirname, join } from 'node:path';
import { createProblem, describeKind, formatValue, type Problem } from '../config-error.ts';
import type { Shard } from '../../sharding/shard.ts';
import type { Configuration } from '../configuration.ts';
import { describeReadError, isMissing, resolvePath } from '../file-system.ts';
import { formatHowToSet, type SettingPath } from '../settings.ts';
import type { MergedSettings } from '../sources.ts';
import { toProblems, type Locate } from '../validation.ts';
import type { WatchedFiles } from '../watched-files.ts';
import { formatLocation, parseYaml, type YamlSource } from '../yaml-source.ts';
import { createListContext, readCodeList } from './code-list.ts';
import type { CodeList, ListContext, ListedCode } from './code-list.ts';
import { serviceCodeEntries } from './schema.ts';

/** A file of service codes. A bad one has problems, and the codes of its last good version. */
export interface CodeFile extends CodeList {
  readonly path: string;
  /** The path as configured, with the name of the file where the configured one has a pattern. */
  readonly name: string;
}

/** The service codes of the setting and of all files. */
export interface ServiceCodes extends Pick<Configuration, 'serviceCodes' | 'codesOnOtherShards'> {
  readonly codeFiles: readonly CodeFile[];
  /** Paths of `service_code_files`, resolved, that match no existing file. */
  readonly unmatchedPatterns: readonly string[];
  /** Mistakes outside of files. */
  readonly problems: Problem[];
}

interface CodeFileAccess extends Pick<WatchedFiles, 'readFile' | 'findMatchingFiles'> {
  readonly shard: Shard;
  /** The files in effect, by path. */
  readonly applied: ReadonlyMap<string, CodeFile>;
}

type FileContext = CodeFileAccess & ListContext;

/** A list that is being read. */
interface LocatedList extends CodeList {
  /** Undefined for the setting. */
  readonly path?: string;
  readonly locate: Locate;
}

/**
 * Reads the codes of the setting, then of the files. A bad file keeps the codes that no other list has now.
 */
export async function readServiceCodes(
  settings: MergedSettings,
  access: CodeFileAccess,
): Promise<ServiceCodes> {
  const { get, origin } = settings;
  const locate: Locate = (path) => settings.locate('service_codes', path);
  const source = { locate, folder: origin('service_codes')?.folder };
  const context = await createListContext(settings, access.readFile, access.shard);
  const setting = { ...(await readCodeList(get('service_codes') ?? [], source, context)), locate };
  const { files, unmatchedPatterns } = await readCodeFiles(settings, { ...access, ...context });
  const duplicates = findDuplicates([setting, ...files], access.applied);
  const codeFiles = files.map((file): CodeFile => {
    const { path, name } = file;
    const problems = [...file.problems, ...(duplicates.problems.get(file) ?? [])];
    const codes = problems.length === 0 ? file.codes : (access.applied.get(path)?.codes ?? []);
    const isFree = ({ settings: { serviceCode } }: ListedCode): boolean =>
      (duplicates.owners.get(serviceCode)?.list ?? file) === file;
    return { path, name, codes: codes.filter(isFree), problems };
  });
  const codes = [setting, ...codeFiles].flatMap((list) => list.codes);
  const others = codes.filter(({ isOwn }) => !isOwn);
  return {
    serviceCodes: codes.filter(({ isOwn }) => isOwn).map((code) => code.settings),
    codesOnOtherShards: new Set(others.map((code) => code.settings.serviceCode)),
    codeFiles,
    unmatchedPatterns,
    problems: [
      ...findMissingSettings(settings, codes),
      ...(typeof context.secret === 'object' ? [context.secret] : []),
      ...setting.problems,
      ...(duplicates.problems.get(setting) ?? []),
    ],
  };
}

/** Reports what every code needs and none has. An empty configuration gets all errors together. */
function* findMissingSettings(
  { get, origin, locate }: MergedSettings,
  codes: readonly ListedCode[],
): Generator<Problem> {
  const describeMissing = (path: SettingPath, expected: string, remedy = formatHowToSet(path)): Problem =>
    createProblem(path, expected, 'none', remedy);
  // An empty list of codes is a mistake unless files may add some.
  const isEmpty = codes.length === 0 && get('service_code_files') === undefined;
  if (
    isEmpty ? get('upstream.base_url') === undefined : codes.some(({ settings }) => settings.baseUrl === '')
  )
    yield describeMissing('upstream.base_url', 'the URL of the service');
  if (!isEmpty) return;
  if (get('secret') === undefined && get('secret_file') === undefined) {
    const remedy = 'set secret or secret_file in the file, XVS_SECRET or XVS_SECRET_FILE';
    yield describeMissing('secret', 'the shared secret', remedy);
  }
  const expected = 'at least one service code';
  if (origin('service_codes') === undefined) yield describeMissing('service_codes', expected);
  else yield createProblem(locate('service_codes'), expected, describeKind([]));
}

/** Finds codes that are listed twice: each stays with the setting, its file in effect, or the first. */
function findDuplicates(lists: readonly LocatedList[], applied: CodeFileAccess['applied']) {
  const pathInEffect = new Map<string, string>();
  for (const { path, codes } of applied.values())
    for (const { settings } of codes) pathInEffect.set(settings.serviceCode, path);
  const listed = lists.flatMap((list) =>
    list.codes.map(({ settings: { serviceCode } }, index) => ({
      serviceCode,
      list,
      locate: () => list.locate([index]),
      isInEffect: list.path === undefined || pathInEffect.get(serviceCode) === list.path,
    })),
  );
  const owners = new Map<string, (typeof listed)[number]>();
  const problems = new Map<LocatedList, Problem[]>(lists.map((list) => [list, []]));
  for (const code of listed.toSorted((one, other) => Number(other.isInEffect) - Number(one.isInEffect))) {
    const owner = owners.get(code.serviceCode);
    if (owner === undefined) {
      owners.set(code.serviceCode, code);
      continue;
    }
    const found = `${formatValue(code.serviceCode)} again, which is also at ${owner.locate()}`;
    problems.get(code.list)?.push(createProblem(code.locate(), 'each service code once', found));
  }
  return { owners, problems };
}

interface LocatedFile extends CodeFile {
  readonly locate: Locate;
}

/** Reads the files, in the order of `service_code_files`, then of their names. */
async function readCodeFiles(settings: MergedSettings, access: FileContext) {
  const folder = settings.origin('service_code_files')?.folder;
  const files = new Map<string, LocatedFile>();
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

/** A folder that cannot be read is a bad file; its files that were read before stay in effect. */
async function readMatchingFiles(
  glob: string,
  pattern: string,
  location: string,
  access: FileContext,
): Promise<readonly LocatedFile[]> {
  const reject = (expectation: string, path: string, name: string, error: unknown): LocatedFile => {
    const found = describeReadError(formatValue(path), error);
    return keepCodes({ path, name }, [createProblem(location, expectation, found)], access);
  };
  const [found] = await Promise.allSettled([access.findMatchingFiles(pattern)]);
  if (found.status === 'rejected') {
    const folder = reject('a readable folder', pattern, glob, found.reason);
    const known = [...access.applied.values()].filter((file) => dirname(file.path) === dirname(pattern));
    return [folder, ...known.map((file) => keepCodes(file, [], access))];
  }
  const files: LocatedFile[] = [];
  for (const path of found.value) {
    const name = glob.includes('*') ? join(dirname(glob), basename(path)) : glob;
    const [read] = await Promise.allSettled([access.readFile(path)]);
    if (read.status === 'fulfilled') files.push(await readCodeFile({ path, name }, read.value, access));
    // A missing file counts as empty: it may be created later.
    else if (!isMissing(read.reason)) files.push(reject('a readable file', path, name, read.reason));
  }
  return files;
}

async function readCodeFile(
  { path, name }: Pick<CodeFile, 'path' | 'name'>,
  text: string,
  access: FileContext,
): Promise<LocatedFile> {
  const fail = (problems: readonly Problem[]) => keepCodes({ path, name }, problems, access);
  const source = tryParseJson(text, path) ?? parseYaml(text, path);
  if ('message' in source) return fail([source]);
  const { success, data, error } = serviceCodeEntries.safeParse(source.value);
  if (!success) return fail(toProblems(error, source.locate));
  const { locate } = source;
  const list = await readCodeList(data, { locate, folder: dirname(path) }, access);
  return list.problems.length > 0 ? fail(list.problems) : { path, name, ...list, locate };
}

/** A bad file: the codes of its last good version, if there is one, stay in effect. */
function keepCodes(
  { path, name }: Pick<CodeFile, 'path' | 'name'>,
  problems: readonly Problem[],
  access: CodeFileAccess,
): LocatedFile {
  return { path, name, codes: access.applied.get(path)?.codes ?? [], problems, locate: () => path };
}

/** In shorter lists, the YAML parser also finds duplicate keys; longer ones take it seconds. */
const MIN_JSON_CHARACTERS = 64 * 1024;

/** Parses a long JSON list 30 times faster than the YAML parser, which locates its mistakes. */
function tryParseJson(text: string, file: string): YamlSource | undefined {
  if (text.length < MIN_JSON_CHARACTERS || !/^\s*\[/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    let source: YamlSource | Problem | undefined;
    const locate: Locate = (path, isKey) => {
      source ??= parseYaml(text, file);
      return 'message' in source ? formatLocation(file, path) : source.locate(path, isKey);
    };
    return { value, locate };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
