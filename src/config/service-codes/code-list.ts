import { NO_STATIC_LABELS } from '../../families/family.ts';
import { selectShard, type Shard } from '../../sharding/shard.ts';
import { createProblem, formatValue, type Problem } from '../config-error.ts';
import type { ServiceCodeSettings } from '../configuration.ts';
import { readText, resolvePath, type ConfigFileSystem, type ReadFile } from '../file-system.ts';
import { describeSecretMistake } from '../schemas.ts';
import type { MergedSettings, SourceEntry } from '../sources.ts';
import { formatDuration } from '../units.ts';
import type { Locate } from '../validation.ts';
import type { WatchedFiles } from '../watched-files.ts';
import { NAME_FORM, RESERVED_REMEDY, type ServiceCodeEntry } from './schema.ts';

/** A service code of a list, with everything that polling it needs. */
export interface ListedCode {
  readonly settings: ServiceCodeSettings;
  /** Whether this shard polls it. */
  readonly isOwn: boolean;
  readonly location: string;
}

export interface CodeList {
  readonly codes: readonly ListedCode[];
  readonly problems: readonly Problem[];
}

/** The surroundings that all lists of service codes share. */
export interface ListContext extends Pick<WatchedFiles, 'readFile' | 'findMatchingFiles'> {
  readonly resolveLinks: ConfigFileSystem['resolveLinks'];
  readonly shard: Shard;
  /** The codes of each file in effect, by path. */
  readonly applied: ReadonlyMap<string, readonly ListedCode[]>;
  readonly get: MergedSettings['get'];
  /** Label names of metrics, which static labels cannot have. */
  readonly metricLabels: ReadonlySet<string>;
  /** The secret of codes without their own, or the problem of reading it. */
  readonly secret: string | Problem | undefined;
}

/** Reads secrets and resolves settings, of other shards, too: all replicas share one configuration. */
export async function readCodeList(
  entries: readonly ServiceCodeEntry[],
  { locate, folder }: Pick<SourceEntry, 'locate' | 'folder'>,
  context: ListContext,
): Promise<CodeList> {
  const read = async (entry: ServiceCodeEntry, index: number): Promise<CodeList> => {
    const { service_code: name, secret, secret_file: path } = entry;
    const isOwn = selectShard(name, context.shard.count) === context.shard.index;
    const file = path === undefined ? undefined : resolvePath(folder, path);
    const locateInside: Locate = (inner = [], isKey) => locate([index, ...inner], isKey);
    // The secret files of other shards may exist only where they are needed.
    const isElsewhere = file !== undefined && secret === undefined && !isOwn;
    const locateKey = (key: string) => locateInside([key]);
    const own = isElsewhere ? '' : await chooseSecret(secret, file, locateKey, context.readFile);
    const chosen = own ?? context.secret;
    const settings = resolveSettings(entry, typeof chosen === 'string' ? chosen : '', context);
    const mistakes = findMistakes(entry, settings, chosen === undefined, locateInside, context);
    return {
      codes: [{ settings, isOwn, location: locate([index]) }],
      problems: [...(typeof own === 'object' ? [own] : []), ...mistakes],
    };
  };
  const lists = await Promise.all(entries.map(read));
  return { codes: lists.flatMap(({ codes }) => codes), problems: lists.flatMap(({ problems }) => problems) };
}

function resolveSettings(entry: ServiceCodeEntry, secret: string, { get }: ListContext): ServiceCodeSettings {
  const intervalMs = entry.interval ?? get('poll.interval');
  const timeoutMs = entry.timeout ?? get('upstream.timeout');
  // A slow but successful poll must not let the gauges of the previous one disappear.
  const defaultStaleAfterMs = Math.max(3 * intervalMs, intervalMs + 2 * timeoutMs);
  const taskName = entry.task_name ?? get('tasks.name');
  return {
    serviceCode: entry.service_code,
    baseUrl: entry.base_url ?? get('upstream.base_url') ?? '',
    secret,
    intervalMs,
    timeoutMs,
    staleAfterMs: get('poll.stale_after') ?? defaultStaleAfterMs,
    stallAfterMs: entry.stall_after ?? get('poll.stall_after'),
    labels: entry.labels ?? NO_STATIC_LABELS,
    ...(taskName !== undefined && { taskName }),
    ...(entry.expect !== undefined && { expectation: entry.expect }),
  };
}

/** Finds the mistakes between valid values of an entry. */
function* findMistakes(
  { interval, expect }: ServiceCodeEntry,
  { serviceCode, staleAfterMs, intervalMs, taskName, labels }: ServiceCodeSettings,
  isSecretMissing: boolean,
  locate: Locate,
  { metricLabels }: ListContext,
): Generator<Problem> {
  if (isSecretMissing) {
    const remedy =
      "set the code's secret or secret_file, or XVS_SECRET or XVS_SECRET_FILE for all codes without their own";
    yield createProblem(locate(), `a secret for service code ${formatValue(serviceCode)}`, 'none', remedy);
  }
  // Metrics that expire before the next poll would come and go.
  if (interval !== undefined && staleAfterMs < intervalMs) {
    const expected = `at most poll.stale_after (${formatDuration(staleAfterMs)})`;
    yield createProblem(locate(['interval']), expected, formatDuration(intervalMs));
  }
  // Names can only be found where the exporter knows them.
  if (expect !== undefined && expect.names.length > 0 && taskName === undefined) {
    const remedy = "set tasks.name, or the code's task_name, to the source of names";
    const expected = 'a source of names of tasks, because names are expected';
    yield createProblem(locate(['expect', 'names']), expected, 'none', remedy);
  }
  for (const label of Object.keys(labels).filter((known) => metricLabels.has(known)))
    yield createProblem(locate(['labels', label], true), NAME_FORM, formatValue(label), RESERVED_REMEDY);
}

/** Gives a secret, or reads its file; both together are a problem. `locate` is called with a key. */
export async function chooseSecret(
  secret: string | undefined,
  path: string | undefined,
  locate: (key: 'secret' | 'secret_file') => string,
  readFile: ReadFile,
): Promise<string | Problem | undefined> {
  if (path === undefined) return secret;
  const location = locate('secret_file');
  if (secret !== undefined) {
    const found = `both; the secret is at ${locate('secret')}`;
    return createProblem(location, 'either a secret or a secret file', found);
  }
  const file = { path, locate: () => location };
  const text = await readText(readFile, file, 'a readable file with a secret');
  if (typeof text !== 'string') return text;
  const content = text.replace(/\r?\n$/, '');
  if (content === '') return createProblem(location, 'a file with a secret', 'an empty one');
  const message = describeSecretMistake(content);
  return message === undefined ? content : { location, message };
}
