import { NO_LABELS } from '../metrics/family.ts';
import type { Shard } from '../sharding/shard.ts';
import { shareOut } from '../sharding/share-out.ts';
import type { CodeList } from './code-lists.ts';
import type { ServiceCodeSettings } from './configuration.ts';
import type { ReadFile } from './files.ts';
import { readSecret } from './files.ts';
import { inBatches } from './in-batches.ts';
import type { Merged } from './layers.ts';
import { environmentName, flagName } from './names.ts';
import type { Problem } from './problem.ts';
import { kindOf, mismatch, show } from './problem.ts';
import type { ServiceCodeEntry } from './service-codes.ts';
import type { SettingPath } from './settings.ts';
import { formatDuration } from './units.ts';

export interface CodeSettings {
  /** Those of the shard. */
  readonly serviceCodes: readonly ServiceCodeSettings[];
  /** Those of the others. */
  readonly elsewhere: ReadonlySet<string>;
  readonly problems: readonly Problem[];
}

/** A secret, a mistake on the way to it, or neither given. */
type Secret = string | Problem | undefined;

/**
 * Gives each service code of a shard, of the setting and of the files, its secret and what it does not set itself. The
 * others are checked as well, for every replica has the same configuration, but for the files of their secrets: those
 * are the business of whoever uses them.
 */
export async function resolveCodes(
  settings: Merged,
  files: readonly CodeList[],
  readFile: ReadFile,
  shard: Shard,
): Promise<CodeSettings> {
  const lists = [...listOfSetting(settings), ...files];
  const names = lists.flatMap(({ codes }) => codes.map(({ service_code }) => service_code));
  const none = names.length === 0 ? noneProblems(settings) : [];
  if (none.length > 0) return { serviceCodes: [], elsewhere: new Set(), problems: none };
  const own = await shareOut(names, shard);
  const given = lists.flatMap((list) =>
    list.codes.map((code, index) => ({ code, index, list, isOwn: own.has(code.service_code) })),
  );
  const shared = await sharedSecret(settings, readFile);
  const secrets = await inBatches(given, async (one) => (await ownSecret(one, readFile)) ?? shared);
  const common = commonSettings(settings);
  const lacksUrl = common.baseUrl === undefined && given.some(({ code }) => code.base_url === undefined);
  return {
    serviceCodes: given.flatMap(({ code, isOwn }, index) =>
      isOwn ? resolveCode(code, textOf(secrets[index]), common) : [],
    ),
    elsewhere: new Set(names.filter((name) => !own.has(name))),
    problems: [
      ...(lacksUrl ? [missing('upstream.base_url', 'the address of the service')] : []),
      ...findDuplicates(given),
      ...(typeof shared === 'object' ? [shared] : []),
      ...given.flatMap((one, index) => secretProblems(one, secrets[index], shared)),
      ...staleProblems(settings),
      ...given.flatMap((one) => ownStaleProblems(one, common)),
    ],
  };
}

interface GivenCode {
  readonly code: ServiceCodeEntry;
  readonly index: number;
  /** What it stands in. */
  readonly list: CodeList;
  /** Whether this shard polls it. */
  readonly isOwn: boolean;
}

function listOfSetting(settings: Merged): readonly CodeList[] {
  const codes = settings.find('service_codes');
  const origin = settings.origin('service_codes');
  if (codes === undefined || origin === undefined) return [];
  return [{ codes, folder: origin.folder, place: origin.place }];
}

/** Without any service code there is nothing to do; but where files may come with them. */
function noneProblems(settings: Merged): readonly Problem[] {
  if (settings.find('service_code_files') !== undefined) return [];
  const expected = 'at least one service code';
  const place = settings.origin('service_codes')?.place();
  return place === undefined
    ? [missing('service_codes', expected)]
    : [{ place, message: mismatch(expected, kindOf([])) }];
}

/** Codes that are given more than once, with both places. */
function findDuplicates(given: readonly GivenCode[]): readonly Problem[] {
  const firsts = new Map<string, GivenCode>();
  return given.flatMap((one) => {
    const { service_code } = one.code;
    const first = firsts.get(service_code);
    if (first === undefined) {
      firsts.set(service_code, one);
      return [];
    }
    const found = `${show(service_code)} again, which is also at ${first.list.place([first.index])}`;
    return [{ place: one.list.place([one.index]), message: mismatch('each service code once', found) }];
  });
}

/** What holds for each code that does not set it itself: asked for once, for there may be thousands. */
type CommonSettings = ReturnType<typeof commonSettings>;

function commonSettings({ find, read }: Merged) {
  return {
    baseUrl: find('upstream.base_url'),
    timeoutMs: read('upstream.timeout'),
    stallAfterMs: read('poll.stall_after'),
    intervalMs: read('poll.interval'),
    staleAfterMs: find('poll.stale_after'),
  };
}

function resolveCode(code: ServiceCodeEntry, secret: string, common: CommonSettings): ServiceCodeSettings {
  return {
    serviceCode: code.service_code,
    baseUrl: code.base_url ?? common.baseUrl ?? '',
    secret,
    timeoutMs: code.timeout ?? common.timeoutMs,
    stallAfterMs: code.stall_after ?? common.stallAfterMs,
    labels: code.labels ?? NO_LABELS,
    ...rhythmOf(code, common),
  };
}

function rhythmOf(
  code: ServiceCodeEntry,
  common: CommonSettings,
): { intervalMs: number; staleAfterMs: number } {
  const intervalMs = code.interval ?? common.intervalMs;
  const staleAfterMs = code.stale_after ?? common.staleAfterMs ?? 3 * intervalMs;
  return { intervalMs, staleAfterMs };
}

async function sharedSecret(settings: Merged, readFile: ReadFile): Promise<Secret> {
  const secret = settings.origin('secret');
  const file = settings.origin('secret_file');
  if (secret !== undefined && file !== undefined) return bothGiven(file.place(), secret.place());
  const path = settings.find('secret_file');
  if (path === undefined || file === undefined) return settings.find('secret');
  return await readSecret(readFile, { path, place: file.place(), folder: file.folder });
}

async function ownSecret({ code, index, list, isOwn }: GivenCode, readFile: ReadFile): Promise<Secret> {
  const path = code.secret_file;
  if (path === undefined) return code.secret;
  const place = () => list.place([index, 'secret_file']);
  if (code.secret !== undefined) return bothGiven(place(), list.place([index, 'secret']));
  if (!isOwn) return '';
  const secret = await readSecret(readFile, { path, place: '', folder: list.folder });
  // Only now: to find places, a file has to be parsed again.
  return typeof secret === 'string' ? secret : { ...secret, place: place() };
}

function bothGiven(place: string, other: string): Problem {
  return { place, message: mismatch('either a secret or a file with it', `both; the secret is at ${other}`) };
}

/** Problems of the code's own secret; what is wrong with the shared one is told once. */
function secretProblems(
  { code, index, list }: GivenCode,
  secret: Secret,
  shared: Secret,
): readonly Problem[] {
  if (typeof secret === 'string') return [];
  if (secret !== undefined) return secret === shared ? [] : [secret];
  const remedy =
    "set the code's secret or secret_file, or XVS_SECRET or XVS_SECRET_FILE for every code without";
  const expected = `a secret for service code ${show(code.service_code)}`;
  return [{ place: list.place([index]), message: mismatch(expected, 'none', remedy) }];
}

function staleProblems(settings: Merged): readonly Problem[] {
  const staleAfterMs = settings.find('poll.stale_after');
  const place = settings.origin('poll.stale_after')?.place();
  if (staleAfterMs === undefined || place === undefined) return [];
  return tooShort(place, staleAfterMs, settings.read('poll.interval'));
}

function ownStaleProblems({ code, index, list }: GivenCode, common: CommonSettings): readonly Problem[] {
  const own = code.stale_after === undefined ? 'interval' : 'stale_after';
  if (code[own] === undefined) return [];
  const { staleAfterMs, intervalMs } = rhythmOf(code, common);
  return tooShort(list.place([index, own]), staleAfterMs, intervalMs);
}

function tooShort(place: string, staleAfterMs: number, intervalMs: number): readonly Problem[] {
  if (staleAfterMs >= intervalMs) return [];
  const expected = `stale_after of at least the interval (${formatDuration(intervalMs)})`;
  return [{ place, message: mismatch(expected, formatDuration(staleAfterMs)) }];
}

function missing(path: SettingPath, expected: string): Problem {
  const remedy = `set ${path} in the file, ${environmentName(path)} or ${flagName(path)}`;
  return { place: path, message: mismatch(expected, 'none', remedy) };
}

function textOf(secret: Secret): string {
  return typeof secret === 'string' ? secret : '';
}
