import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createProblem, describeKind, formatValue, type Problem } from '../config-error.ts';
import { mapYielding } from '../../runtime/map-yielding.ts';
import { describeReadError, isMissing, resolvePath } from '../file-system.ts';
import { formatHowToSet, type SettingPath } from '../settings.ts';
import type { MergedSettings } from '../sources.ts';
import { toProblems, type Locate } from '../validation.ts';
import { formatLocation, parseYaml, type YamlSource } from '../yaml-source.ts';
import { chooseSecret, readCodeList } from './code-list.ts';
import type { CodeList, ListContext, ListedCode } from './code-list.ts';
import { serviceCodeEntries, serviceCodeEntry } from './schema.ts';

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
    locate: (...inner: Parameters<Locate>) => locate('service_codes', ...inner),
    folder: origin('service_codes')?.folder,
  };
  const listed = await readCodeList(get('service_codes') ?? [], source, context);
  const { files, unmatchedPatterns } = await readCodeFiles(settings, context);
  const lists = reportDuplicates([{ path: SETTING, name: SETTING, ...listed }, ...files], context);
  const good = lists.filter((list) => list.path === SETTING || list.problems.length === 0);
  const taken = new Set(good.flatMap((list) => list.codes.map((code) => code.settings.serviceCode)));
  const codeFiles = lists.slice(1).map((file): CodeFile => {
    if (good.includes(file)) return file;
    const kept = context.applied.get(file.path) ?? [];
    return { ...file, codes: kept.filter((code) => !taken.has(code.settings.serviceCode)) };
  });
  const codes = [listed, ...codeFiles].flatMap((list) => list.codes);
  const others = codes.filter(({ isOwn }) => !isOwn);
  return {
    serviceCodes: codes.filter(({ isOwn }) => isOwn).map((code) => code.settings),
    codesOnOtherShards: new Set(others.map((code) => code.settings.serviceCode)),
    codeFiles,
    unmatchedPatterns,
    problems: [
      ...findMissingSettings(settings, codes),
      ...(typeof secret === 'object' ? [secret] : []),
      ...(lists[0]?.problems ?? []),
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

/** Reports codes that are listed twice, but not where one stays: in the setting, its file, the first list. */
function reportDuplicates(lists: readonly CodeFile[], { applied }: ListContext): readonly CodeFile[] {
  const pathInEffect = new Map<string, string>();
  for (const [path, codes] of applied)
    for (const { settings } of codes) pathInEffect.set(settings.serviceCode, path);
  const owners = new Map<string, ListedCode>();
  for (const isInEffect of [true, false])
    for (const { path, codes } of lists)
      for (const code of codes) {
        const { serviceCode } = code.settings;
        const isHere = path === SETTING || pathInEffect.get(serviceCode) === path;
        if (isHere === isInEffect && !owners.has(serviceCode)) owners.set(serviceCode, code);
      }
  return lists.map((list) => {
    const duplicates = list.codes.flatMap((code) => {
      const { serviceCode } = code.settings;
      const owner = owners.get(serviceCode);
      if (owner === undefined || owner === code) return [];
      const found = `${formatValue(serviceCode)} again, which is also at ${owner.location}`;
      return [createProblem(code.location, 'each service code once', found)];
    });
    return { ...list, problems: [...list.problems, ...duplicates] };
  });
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

/**
 * A bad file, or folder, keeps the codes of its last good version. A missing file counts as empty: it may be
 * created later.
 */
async function readMatchingFiles(
  glob: string,
  pattern: string,
  location: string,
  context: ListContext,
): Promise<readonly CodeFile[]> {
  const toFile = (path: string, { codes, problems }: CodeList): CodeFile => ({
    path,
    name: path === pattern ? glob : join(dirname(glob), basename(path)),
    codes: problems.length > 0 ? (context.applied.get(path) ?? []) : codes,
    problems,
  });
  const fail = (expectation: string, path: string, error: unknown): CodeFile => {
    const found = describeReadError(formatValue(path), error);
    return toFile(path, { codes: [], problems: [createProblem(location, expectation, found)] });
  };
  const [found] = await Promise.allSettled([context.findMatchingFiles(pattern)]);
  if (found.status === 'rejected') {
    const known = [...context.applied].filter(([path]) => dirname(path) === dirname(pattern));
    return [
      fail('a readable folder', pattern, found.reason),
      ...known.map(([path, codes]) => toFile(path, { codes, problems: [] })),
    ];
  }
  const files: CodeFile[] = [];
  for (const path of found.value) {
    const [read] = await Promise.allSettled([context.readFile(path)]);
    if (read.status === 'fulfilled') files.push(toFile(path, await readCodeFile(path, read.value, context)));
    else if (!isMissing(read.reason)) files.push(fail('a readable file', path, read.reason));
  }
  return files;
}

async function readCodeFile(path: string, text: string, context: ListContext): Promise<CodeList> {
  // Parsing a text is synchronous: polls and scrapes run between two files.
  await nextTurn();
  const source = tryParseJson(text, path) ?? parseYaml(text, path);
  if ('message' in source) return { codes: [], problems: [source] };
  const { locate } = source;
  const { entries, problems } = await parseEntries(source.value, locate);
  if (problems.length > 0) return { codes: [], problems };
  return await readCodeList(entries, { locate, folder: dirname(path) }, context);
}

/** Codes that are validated in one turn of the event loop. */
const CODES_PER_TURN = 20;

async function parseEntries(value: unknown, locate: Locate) {
  if (!Array.isArray(value))
    return { entries: [], problems: toProblems(serviceCodeEntries.safeParse(value).error, locate) };
  const parseEntry = ([index, raw]: readonly [number, unknown]) => {
    const { data, error } = serviceCodeEntry.safeParse(raw);
    return { data, problems: toProblems(error, (inner = [], isKey) => locate([index, ...inner], isKey)) };
  };
  const parsed = await mapYielding([...value.entries()], parseEntry, CODES_PER_TURN);
  return {
    entries: parsed.flatMap(({ data }) => data ?? []),
    problems: parsed.flatMap(({ problems }) => problems),
  };
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
