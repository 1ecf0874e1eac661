import { NO_STATIC_LABELS } from '../../metrics/catalogue/family.ts';
import { describeKind, expectedFound, formatValue, type Problem } from '../config-error.ts';
import type { ServiceCodeSettings } from '../configuration.ts';
import type { ReadFile } from '../file-system.ts';
import { chooseSecret } from '../secrets.ts';
import { formatHowToSet, type SettingPath } from '../settings.ts';
import type { MergedSettings } from '../sources.ts';
import { formatDuration } from '../units.ts';
import type { ValuePath } from '../validation.ts';
import { keepCodes, listCodes } from './code-files.ts';
import type { CodeFile, CodeFileAccess, CodeList, ListedCode } from './code-files.ts';

export interface ResolvedCodes {
  /** The codes that this shard polls. */
  readonly serviceCodes: readonly ServiceCodeSettings[];
  readonly codesOnOtherShards: ReadonlySet<string>;
  /** The files, each with its mistakes; bad ones keep their codes. */
  readonly codeFiles: readonly CodeFile[];
  /** Mistakes outside files, or that remain although bad files keep their codes. */
  readonly problems: readonly Problem[];
}

/**
 * Resolves the settings of each service code of the shard, from the setting and the files. Codes of other shards are checked
 * too, because all replicas share one configuration.
 *
 * A file with a mistake keeps the codes of its last good version. That may cause a mistake in another file, such as a
 * code that moved there, so this repeats until no further file is bad.
 */
export async function resolveCodes(
  settings: MergedSettings,
  files: readonly CodeFile[],
  access: CodeFileAccess,
): Promise<ResolvedCodes> {
  const common = await readCommonSettings(settings, access.readFile);
  const locate = (path?: ValuePath) => settings.locate('service_codes', path);
  const source = { locate, folder: settings.origin('service_codes')?.folder };
  const codesOfSetting = await listCodes(settings.get('service_codes') ?? [], source, access);
  const setting: CodeList = { codes: codesOfSetting, locate };
  const isInEffect = ({ path, text }: CodeFile): boolean => access.applied.get(path)?.text === text;
  let codeFiles = files;
  for (;;) {
    const problemsByList = findProblems([setting, ...codeFiles.filter(isInEffect), ...codeFiles], common);
    const isBad = (file: CodeFile): boolean => file.problems.length === 0 && problemsByList.has(file);
    if (codeFiles.some(isBad)) {
      codeFiles = codeFiles.map((file) =>
        isBad(file) ? keepCodes(file, problemsByList.get(file) ?? [], access) : file,
      );
      continue;
    }
    const codes = [setting, ...codeFiles].flatMap((list) => list.codes);
    const others = codes.filter(({ isOwn }) => !isOwn);
    return {
      serviceCodes: codes.filter(({ isOwn }) => isOwn).map((code) => resolveCode(code, common)),
      codesOnOtherShards: new Set(others.map(({ entry }) => entry.service_code)),
      codeFiles,
      problems: [
        ...findMissingSettings(settings, codes),
        ...(typeof common.secret === 'object' ? [common.secret] : []),
        ...[...problemsByList.values()].flat(),
      ],
    };
  }
}

/** Reports what every code needs and none has. An empty configuration gets all errors together. */
function* findMissingSettings(
  { get, origin, locate }: MergedSettings,
  listed: readonly ListedCode[],
): Generator<Problem> {
  const describeMissing = (path: SettingPath, expected: string, remedy = formatHowToSet(path)) => ({
    location: path,
    message: expectedFound(expected, 'none', remedy),
  });
  // An empty list of codes is a mistake unless files may add some.
  const isEmpty = listed.length === 0 && get('service_code_files') === undefined;
  if (get('upstream.base_url') === undefined && (isEmpty || listed.some(({ entry }) => !entry.base_url)))
    yield describeMissing('upstream.base_url', 'the URL of the service');
  if (!isEmpty) return;
  if (get('secret') === undefined && get('secret_file') === undefined) {
    const remedy = 'set secret or secret_file in the file, XVS_SECRET or XVS_SECRET_FILE';
    yield describeMissing('secret', 'the shared secret', remedy);
  }
  const expected = 'at least one service code';
  if (origin('service_codes') === undefined) yield describeMissing('service_codes', expected);
  else yield { location: locate('service_codes'), message: expectedFound(expected, describeKind([])) };
}

/**
 * Finds the mistakes of codes whose values are each valid, by their list. Of a code that is listed twice, the second entry is
 * the mistake.
 *
 * @param lists - those in effect come first, and may come again with the new and changed ones
 */
function findProblems(
  lists: readonly CodeList[],
  common: CommonSettings,
): ReadonlyMap<CodeList, readonly Problem[]> {
  const locateByCode = new Map<string, () => string>();
  const problemsByList = new Map<CodeList, readonly Problem[]>();
  for (const list of new Set(lists)) {
    const problems = list.codes.flatMap((code, index) => {
      const { service_code: name } = code.entry;
      const locateFirst = locateByCode.get(name);
      if (locateFirst === undefined) locateByCode.set(name, () => list.locate([index]));
      const mistakes = [...findMistakes(code, locateFirst?.(), common)].map(([path, message]) => ({
        location: list.locate([index, ...path]),
        message,
      }));
      return typeof code.secret === 'object' ? [code.secret, ...mistakes] : mistakes;
    });
    if (problems.length > 0) problemsByList.set(list, problems);
  }
  return problemsByList;
}

/**
 * Finds the mistakes of a code: their path in the entry, and the message.
 *
 * @param first - where the same code is listed before
 */
function* findMistakes(
  listed: ListedCode,
  first: string | undefined,
  common: CommonSettings,
): Generator<readonly [path: ValuePath, message: string]> {
  const { entry, secret } = listed;
  const { serviceCode, staleAfterMs, intervalMs, taskName } = resolveCode(listed, common);
  const name = formatValue(serviceCode);
  if (first !== undefined)
    yield [[], expectedFound('each service code once', `${name} again, which is also at ${first}`)];
  if (secret === undefined && common.secret === undefined) {
    const remedy =
      "set the code's secret or secret_file, or XVS_SECRET or XVS_SECRET_FILE for all codes without their own";
    yield [[], expectedFound(`a secret for service code ${name}`, 'none', remedy)];
  }
  // Metrics that expire before the next poll would come and go.
  if (entry.interval !== undefined && staleAfterMs < intervalMs) {
    const expected = `at most poll.stale_after (${formatDuration(staleAfterMs)})`;
    yield [['interval'], expectedFound(expected, formatDuration(intervalMs))];
  }
  // Names can only be found where the exporter knows them.
  if (entry.expect !== undefined && entry.expect.names.length > 0 && taskName === undefined) {
    const remedy = "set tasks.name, or the code's task_name, to the source of names";
    const expected = 'a source of names of tasks, because names are expected';
    yield [['expect', 'names'], expectedFound(expected, 'none', remedy)];
  }
}

/** Settings of codes without their own; read once, because there may be thousands of codes. */
type CommonSettings = Awaited<ReturnType<typeof readCommonSettings>>;

async function readCommonSettings({ get, file, locate }: MergedSettings, readFile: ReadFile) {
  return {
    secret: await chooseSecret(get('secret'), file('secret_file'), () => locate('secret'), readFile),
    baseUrl: get('upstream.base_url') ?? '',
    timeoutMs: get('upstream.timeout'),
    stallAfterMs: get('poll.stall_after'),
    intervalMs: get('poll.interval'),
    staleAfterMs: get('poll.stale_after'),
    taskName: get('tasks.name'),
  };
}

function resolveCode({ entry, secret: own }: ListedCode, common: CommonSettings): ServiceCodeSettings {
  const secret = own ?? common.secret;
  const intervalMs = entry.interval ?? common.intervalMs;
  const timeoutMs = entry.timeout ?? common.timeoutMs;
  // A slow but successful poll must not let the gauges of the previous one disappear.
  const defaultStaleAfterMs = Math.max(3 * intervalMs, intervalMs + 2 * timeoutMs);
  const taskName = entry.task_name ?? common.taskName;
  return {
    serviceCode: entry.service_code,
    baseUrl: entry.base_url ?? common.baseUrl,
    // A missing or unreadable secret is a problem, which ends the loading.
    secret: typeof secret === 'string' ? secret : '',
    intervalMs,
    timeoutMs,
    staleAfterMs: common.staleAfterMs ?? defaultStaleAfterMs,
    stallAfterMs: entry.stall_after ?? common.stallAfterMs,
    labels: entry.labels ?? NO_STATIC_LABELS,
    ...(taskName !== undefined && { taskName }),
    ...(entry.expect !== undefined && { expectation: entry.expect }),
  };
}
