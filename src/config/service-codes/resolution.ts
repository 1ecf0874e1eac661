import { NO_STATIC_LABELS } from '../../metrics/catalogue/family.ts';
import { ownCodes, type Shard } from '../../sharding/shard.ts';
import type { Problem } from '../config-error.ts';
import { describeKind, expectedFound, formatValue } from '../config-error.ts';
import type { ServiceCodeSettings } from '../configuration.ts';
import type { ReadFile } from '../files.ts';
import { readSecret } from '../files.ts';
import { formatHowToSet, type SettingPath } from '../settings.ts';
import type { MergedSettings } from '../sources.ts';
import { formatDuration } from '../units.ts';
import type { ValuePath } from '../validation.ts';
import { keepCodes, type AppliedCodeFile, type CodeFile, type CodeList } from './code-files.ts';
import type { ServiceCodeEntry } from './schema.ts';

export interface ResolvedCodes {
  /** The codes that this shard polls. */
  readonly serviceCodes: readonly ServiceCodeSettings[];
  readonly codesOnOtherShards: ReadonlySet<string>;
  /** The files, each with its mistakes; bad ones keep their codes. */
  readonly codeFiles: readonly AppliedCodeFile[];
  /** Mistakes outside files, or that remain although bad files keep their codes. */
  readonly problems: readonly Problem[];
}

export interface ResolutionOptions {
  readonly readFile: ReadFile;
  readonly shard: Shard;
  /** The files in effect, by path; `undefined` at the start. */
  readonly applied?: ReadonlyMap<string, AppliedCodeFile> | undefined;
}

/** A secret, the problem of reading it, or undefined if none is set. */
type Secret = string | Problem | undefined;

/**
 * Resolves the secret and the settings of each service code of the shard, from the setting and the files. Codes of
 * other shards are checked too, because all replicas share one configuration, but their secret files are not read:
 * they may exist only where they are needed.
 *
 * A file with a mistake keeps the codes of its last good version. That may cause a mistake in another file, such as a
 * code that moved there, so this repeats until no further file is bad.
 */
export async function resolveCodes(
  settings: MergedSettings,
  files: readonly CodeFile[],
  options: ResolutionOptions,
): Promise<ResolvedCodes> {
  const { applied } = options;
  const blamed = new Set<string>();
  for (let current = files; ;) {
    const { problemsByList, ...resolved } = await resolveLists(settings, current, options);
    const isBad = (file: CodeFile): boolean =>
      (problemsByList.get(file)?.length ?? 0) > 0 && !blamed.has(file.path);
    if (applied === undefined || !current.some((file) => isBad(file))) {
      const remaining = [...problemsByList.values()].flat();
      return { ...resolved, problems: [...resolved.problems, ...remaining] };
    }
    current = current.map((file) => {
      if (!isBad(file)) return file;
      blamed.add(file.path);
      const problems = [...file.problems, ...(problemsByList.get(file) ?? [])];
      return keepCodes(file, problems, applied.get(file.path));
    });
  }
}

interface ResolvedLists extends ResolvedCodes {
  readonly problemsByList: ReadonlyMap<CodeList, readonly Problem[]>;
}

async function resolveLists(
  settings: MergedSettings,
  files: readonly CodeFile[],
  { readFile, shard }: ResolutionOptions,
): Promise<ResolvedLists> {
  const lists = [...readCodesSetting(settings), ...files];
  const names = lists.flatMap(({ codes }) => codes.map(({ service_code }) => service_code));
  const own = await ownCodes(names, shard);
  const defaultSecret = await readDefaultSecret(settings, readFile);
  const listed = await Promise.all(
    lists.flatMap((list) =>
      list.codes.map(async (code, index): Promise<ListedCode> => {
        const entry = { code, index, list, isOwn: own.has(code.service_code) };
        return { ...entry, secret: (await readOwnSecret(entry, readFile)) ?? defaultSecret };
      }),
    ),
  );
  const common = readCommonSettings(settings);
  const firsts = findFirsts(listed);
  const problemsByList = new Map<CodeList, Problem[]>(lists.map((list) => [list, []]));
  const withSecrets = new Map<CodeList, ServiceCodeEntry[]>(lists.map((list) => [list, []]));
  for (const entry of listed) {
    const { code, list, index, secret } = entry;
    withSecrets.get(list)?.push(includeSecret(entry));
    const problems = problemsByList.get(list);
    if (typeof secret === 'object' && secret !== defaultSecret) problems?.push(secret);
    // Located only on failure: finding a location parses the file again.
    for (const [path, message] of findMistakes(entry, firsts.get(code.service_code), common))
      problems?.push({ location: list.locate([index, ...path]), message });
  }
  return {
    serviceCodes: listed.flatMap(({ code, isOwn, secret }) =>
      isOwn ? resolveCode(code, typeof secret === 'string' ? secret : '', common) : [],
    ),
    codesOnOtherShards: new Set(names.filter((name) => !own.has(name))),
    codeFiles: files.map((file) => ({ ...file, codesWithSecrets: withSecrets.get(file) ?? [] })),
    problems: [
      ...reportMissingSettings(settings, listed),
      ...(typeof defaultSecret === 'object' ? [defaultSecret] : []),
    ],
    problemsByList,
  };
}

/** The entry with the text of its secret file, if this shard has read one. */
function includeSecret({ code, isOwn, secret }: ListedCode): ServiceCodeEntry {
  const hasFile = isOwn && code.secret_file !== undefined && typeof secret === 'string';
  return hasFile ? { ...code, secret, secret_file: undefined } : code;
}

interface ListedCode {
  readonly code: ServiceCodeEntry;
  readonly index: number;
  readonly list: CodeList;
  /** Whether this shard polls it. */
  readonly isOwn: boolean;
  readonly secret: Secret;
}

function readCodesSetting({ get, origin }: MergedSettings): readonly CodeList[] {
  const codes = get('service_codes');
  const entry = origin('service_codes');
  if (codes === undefined || entry === undefined) return [];
  return [{ codes, folder: entry.folder, locate: entry.locate, isInEffect: true }];
}

/** Reports what every code needs and none has. An empty configuration gets all errors together. */
function reportMissingSettings(
  { get, origin, locate }: MergedSettings,
  listed: readonly ListedCode[],
): readonly Problem[] {
  const problems: Problem[] = [];
  const report = (path: SettingPath, expected: string, remedy = formatHowToSet(path)) =>
    problems.push({ location: path, message: expectedFound(expected, 'none', remedy) });
  // An empty list of codes is a mistake unless files may add some.
  const isEmpty = listed.length === 0 && get('service_code_files') === undefined;
  if (get('upstream.base_url') === undefined && (isEmpty || listed.some(({ code }) => !code.base_url)))
    report('upstream.base_url', 'the URL of the service');
  if (!isEmpty) return problems;
  if (get('secret') === undefined && get('secret_file') === undefined)
    report(
      'secret',
      'the shared secret',
      'set secret or secret_file in the file, XVS_SECRET or XVS_SECRET_FILE',
    );
  const expected = 'at least one service code';
  if (origin('service_codes') === undefined) report('service_codes', expected);
  else
    problems.push({
      location: locate('service_codes'),
      message: expectedFound(expected, describeKind([])),
    });
  return problems;
}

/** The first entry of each code: those in effect come before those of new and changed files. */
function findFirsts(listed: readonly ListedCode[]): ReadonlyMap<string, ListedCode> {
  const firsts = new Map<string, ListedCode>();
  for (const isInEffect of [true, false]) {
    for (const entry of listed) {
      const { service_code: name } = entry.code;
      if (entry.list.isInEffect === isInEffect && !firsts.has(name)) firsts.set(name, entry);
    }
  }
  return firsts;
}

/** Finds the mistakes of a code whose values are each valid: their path in the entry, and the message. */
function* findMistakes(
  entry: ListedCode,
  first: ListedCode | undefined,
  common: CommonSettings,
): Generator<readonly [path: ValuePath, message: string]> {
  const { code, secret } = entry;
  const name = formatValue(code.service_code);
  if (first !== undefined && first !== entry) {
    const found = `${name} again, which is also at ${first.list.locate([first.index])}`;
    yield [[], expectedFound('each service code once', found)];
  }
  if (secret === undefined) {
    const remedy =
      "set the code's secret or secret_file, or XVS_SECRET or XVS_SECRET_FILE for all codes without their own";
    yield [[], expectedFound(`a secret for service code ${name}`, 'none', remedy)];
  }
  const { staleAfterMs, intervalMs } = resolveTimes(code, common);
  const own = code.stale_after === undefined ? 'interval' : 'stale_after';
  if (code[own] !== undefined && staleAfterMs < intervalMs)
    yield [[own], describeShortStaleAfter(staleAfterMs, intervalMs)];
  // Names can only be found where the exporter knows them.
  const { expect, task_name = common.taskName } = code;
  if (expect !== undefined && expect.names.length > 0 && task_name === undefined) {
    const remedy = "set tasks.name, or the code's task_name, to the source of names";
    const expected = 'a source of names of tasks, because names are expected';
    yield [['expect', 'names'], expectedFound(expected, 'none', remedy)];
  }
}

/** Settings of codes without their own; read once, because there may be thousands of codes. */
type CommonSettings = ReturnType<typeof readCommonSettings>;

function readCommonSettings({ get }: MergedSettings) {
  return {
    baseUrl: get('upstream.base_url'),
    timeoutMs: get('upstream.timeout'),
    stallAfterMs: get('poll.stall_after'),
    intervalMs: get('poll.interval'),
    staleAfterMs: get('poll.stale_after'),
    taskName: get('tasks.name'),
  };
}

function resolveCode(code: ServiceCodeEntry, secret: string, common: CommonSettings): ServiceCodeSettings {
  const taskName = code.task_name ?? common.taskName;
  return {
    serviceCode: code.service_code,
    baseUrl: code.base_url ?? common.baseUrl ?? '',
    secret,
    stallAfterMs: code.stall_after ?? common.stallAfterMs,
    labels: code.labels ?? NO_STATIC_LABELS,
    ...resolveTimes(code, common),
    ...(taskName !== undefined && { taskName }),
    ...(code.expect !== undefined && { expectation: code.expect }),
  };
}

function resolveTimes(
  code: ServiceCodeEntry,
  common: CommonSettings,
): Pick<ServiceCodeSettings, 'intervalMs' | 'timeoutMs' | 'staleAfterMs'> {
  const intervalMs = code.interval ?? common.intervalMs;
  const timeoutMs = code.timeout ?? common.timeoutMs;
  // A slow but successful poll must not let the gauges of the previous one disappear.
  const defaultStaleAfterMs = Math.max(3 * intervalMs, intervalMs + 2 * timeoutMs);
  const staleAfterMs = code.stale_after ?? common.staleAfterMs ?? defaultStaleAfterMs;
  return { intervalMs, timeoutMs, staleAfterMs };
}

async function readDefaultSecret(
  { get, origin, locate }: MergedSettings,
  readFile: ReadFile,
): Promise<Secret> {
  const secret = get('secret');
  const path = get('secret_file');
  if (path === undefined) return secret;
  const location = locate('secret_file');
  if (secret !== undefined) return rejectBothSecrets(location, locate('secret'));
  return await readSecret(readFile, { path, location, folder: origin('secret_file')?.folder });
}

async function readOwnSecret(
  { code, index, list, isOwn }: Omit<ListedCode, 'secret'>,
  readFile: ReadFile,
): Promise<Secret> {
  const path = code.secret_file;
  if (path === undefined) return code.secret;
  const locate = () => list.locate([index, 'secret_file']);
  if (code.secret !== undefined) return rejectBothSecrets(locate(), list.locate([index, 'secret']));
  if (!isOwn) return '';
  const secret = await readSecret(readFile, { path, location: '', folder: list.folder });
  return typeof secret === 'string' ? secret : { ...secret, location: locate() };
}

function rejectBothSecrets(location: string, other: string): Problem {
  const found = `both; the secret is at ${other}`;
  return { location, message: expectedFound('either a secret or a secret file', found) };
}

/** Metrics that expire before the next poll would come and go. */
export function describeShortStaleAfter(staleAfterMs: number, intervalMs: number): string {
  const expected = `stale_after of at least the interval (${formatDuration(intervalMs)})`;
  return expectedFound(expected, formatDuration(staleAfterMs));
}
