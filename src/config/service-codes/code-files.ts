import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createProblem, describeKind, formatValue, type Problem } from '../config-error.ts';
import { mapYielding } from '../../runtime/map-yielding.ts';
import { describeReadError, isMissing, resolvePath } from '../file-system.ts';
import { formatHowToSet, type SettingPath } from '../settings.ts';
import type { MergedSettings } from '../sources.ts';
import { toProblems, type Locate, type ValuePath } from '../validation.ts';
import { formatLocation, parseYaml, type YamlSource } from '../yaml-source.ts';
import { chooseSecret, readCodeList } from './code-list.ts';
import type { CodeList, ListContext, ListedCode } from './code-list.ts';
import { serviceCodeEntries, serviceCodeEntry, type ServiceCodeEntry } from './schema.ts';

/** A file of service codes. A bad one has problems, and the codes of its last good version. */
export interface CodeFile extends CodeList {
  readonly path: string;
  /** The path as configured, with the name of the file where the configured one has a pattern. */
  readonly name: string;
}

/** The codes of the setting, then of the files. A bad file keeps the codes that no other list has now. */
export async function readServiceCodes(
  settings: MergedSettings,
  access: Omit<ListContext, 'get' | 'secret'>,
) {
  const { get, origin, locate } = settings;
  const secretFile = settings.file('secret_file')?.path;
  const secret = await chooseSecret(get('secret'), secretFile, locate, access.readFile);
  const context = { ...access, get, secret };
  const source = {
    locate: (path?: ValuePath, isKey?: boolean) => locate('service_codes', path, isKey),
    folder: origin('service_codes')?.folder,
  };
  const entries = get('service_codes') ?? [];
  const setting = { path: SETTING, name: SETTING, ...(await readCodeList(entries, source, context)) };
  const { files, unmatchedPatterns } = await readCodeFiles(settings, context);
  const duplicates = findDuplicates([setting, ...files], context);
  const listProblems = (list: CodeFile) => [...list.problems, ...(duplicates.get(list) ?? [])];
  const good = [setting, ...files.filter((file) => listProblems(file).length === 0)];
  const taken = new Set(good.flatMap((list) => list.codes.map((code) => code.settings.serviceCode)));
  const codeFiles = files.map((file): CodeFile => {
    if (good.includes(file)) return file;
    const kept = context.applied.get(file.path) ?? [];
    const codes = kept.filter((code) => !taken.has(code.settings.serviceCode));
    return { ...file, codes, problems: listProblems(file) };
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
      ...(typeof secret === 'object' ? [secret] : []),
      ...listProblems(setting),
    ],
  };
}

/** The path of the list that is in the setting. */
const SETTING = '';

/** Reports required settings that are missing. An empty configuration gets all errors together. */
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

/**
 * Reports codes that are listed twice, but not the place that keeps one: the setting, its file, the first.
 */
function findDuplicates(lists: readonly CodeFile[], { applied }: ListContext) {
  const pathInEffect = new Map<string, string>();
  for (const [path, codes] of applied)
    for (const { settings } of codes) pathInEffect.set(settings.serviceCode, path);
  const listed = lists.flatMap((list) =>
    list.codes.map(({ settings: { serviceCode }, location }) => {
      const isInEffect = list.path === SETTING || pathInEffect.get(serviceCode) === list.path;
      return { serviceCode, list, location, isInEffect };
    }),
  );
  const owners = new Map<string, (typeof listed)[number]>();
  const problems = new Map<CodeFile, Problem[]>(lists.map((list) => [list, []]));
  for (const code of listed.toSorted((one, other) => Number(other.isInEffect) - Number(one.isInEffect))) {
    const owner = owners.get(code.serviceCode);
    if (owner === undefined) {
      owners.set(code.serviceCode, code);
      continue;
    }
    const found = `${formatValue(code.serviceCode)} again, which is also at ${owner.location}`;
    problems.get(code.list)?.push(createProblem(code.location, 'each service code once', found));
  }
  return problems;
}

/** Reads the files, in the order of `service_code_files`, then of their names. */
async function readCodeFiles(settings: MergedSettings, context: ListContext) {
  const folder = settings.origin('service_code_files')?.folder;
  const files = new Map<string, CodeFile>();
  const unmatchedPatterns: string[] = [];
  for (const [index, glob] of (settings.get('service_code_files') ?? []).entries()) {
    const location = settings.locate('service_code_files', [index]);
    const pattern = resolvePath(folder, glob);
    const matches = await readMatchingFiles(glob, pattern, location, context);
    if (matches.length === 0) unmatchedPatterns.push(pattern);
    for (const file of matches) {
      // Two paths may match the same file, or links to it.
      const realPath = await context.resolveLinks(file.path).catch(() => file.path);
      if (!files.has(realPath)) files.set(realPath, file);
    }
  }
  return { files: [...files.values()], unmatchedPatterns };
}

/** A folder that cannot be read is a bad file; its files that were read before stay in effect. */
async function readMatchingFiles(
  glob: string,
  pattern: string,
  location: string,
  context: ListContext,
): Promise<readonly CodeFile[]> {
  const reject = (expectation: string, path: string, name: string, error: unknown): CodeFile => {
    const found = describeReadError(formatValue(path), error);
    return keepCodes({ path, name }, [createProblem(location, expectation, found)], context);
  };
  const toName = (path: string): string => (glob.includes('*') ? join(dirname(glob), basename(path)) : glob);
  const [found] = await Promise.allSettled([context.findMatchingFiles(pattern)]);
  if (found.status === 'rejected') {
    const folder = reject('a readable folder', pattern, glob, found.reason);
    const known = [...context.applied.keys()].filter((path) => dirname(path) === dirname(pattern));
    return [folder, ...known.map((path) => keepCodes({ path, name: toName(path) }, [], context))];
  }
  const files: CodeFile[] = [];
  for (const path of found.value) {
    const name = toName(path);
    const [read] = await Promise.allSettled([context.readFile(path)]);
    if (read.status === 'fulfilled') files.push(await readCodeFile({ path, name }, read.value, context));
    // A missing file counts as empty: it may be created later.
    else if (!isMissing(read.reason)) files.push(reject('a readable file', path, name, read.reason));
  }
  return files;
}

async function readCodeFile(
  { path, name }: Pick<CodeFile, 'path' | 'name'>,
  text: string,
  context: ListContext,
): Promise<CodeFile> {
  const fail = (problems: readonly Problem[]) => keepCodes({ path, name }, problems, context);
  // Parsing a text is synchronous: polls and scrapes run between two files.
  await nextTurn();
  const source = tryParseJson(text, path) ?? parseYaml(text, path);
  if ('message' in source) return fail([source]);
  const { locate } = source;
  const { entries, problems } = await parseEntries(source.value, locate);
  if (problems.length > 0) return fail(problems);
  const list = await readCodeList(entries, { locate, folder: dirname(path) }, context);
  return list.problems.length > 0 ? fail(list.problems) : { path, name, ...list };
}

/** Codes that are validated in one turn of the event loop. */
const CODES_PER_TURN = 20;

async function parseEntries(value: unknown, locate: Locate) {
  const entries: ServiceCodeEntry[] = [];
  const problems: Problem[] = [];
  if (!Array.isArray(value)) {
    const { error } = serviceCodeEntries.safeParse(value);
    return { entries, problems: error === undefined ? [] : toProblems(error, locate) };
  }
  const parseEntry = ([index, raw]: readonly [number, unknown]): void => {
    const { success, data, error } = serviceCodeEntry.safeParse(raw);
    if (success) return void entries.push(data);
    for (const problem of toProblems(error, (inner = [], isKey) => locate([index, ...inner], isKey)))
      problems.push(problem);
  };
  await mapYielding([...value.entries()], parseEntry, CODES_PER_TURN);
  return { entries, problems };
}

/** A bad file: the codes of its last good version, if there is one, stay in effect. */
function keepCodes(
  { path, name }: Pick<CodeFile, 'path' | 'name'>,
  problems: readonly Problem[],
  context: ListContext,
): CodeFile {
  return { path, name, codes: context.applied.get(path) ?? [], problems };
}

/** The YAML parser tells lines and duplicate keys, but takes seconds for longer lists. */
const MIN_JSON_CHARACTERS = 64 * 1024;

/** Parses a long JSON list 30 times faster than the YAML parser, which reports its syntax errors. */
function tryParseJson(text: string, file: string): YamlSource | undefined {
  if (text.length < MIN_JSON_CHARACTERS || !/^\s*\[/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return { value, locate: (path) => formatLocation(file, path) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
