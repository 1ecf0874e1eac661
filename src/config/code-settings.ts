import type { Shard } from '../sharding/shard.ts';
import { shareOut } from '../sharding/share-out.ts';
import type { ServiceCodeSettings } from './configuration.ts';
import type { ReadFile } from './files.ts';
import { readSecret } from './files.ts';
import type { Entry, Merged } from './layers.ts';
import { environmentName, flagName } from './names.ts';
import type { Problem } from './problem.ts';
import { mismatch, show } from './problem.ts';
import type { ServiceCodeEntry } from './service-codes.ts';
import { findDuplicates } from './service-codes.ts';
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
 * Gives each service code of a shard its secret and what it does not set itself. The others are checked as well, for
 * every replica has the same configuration, but for the files of their secrets: those are the business of whoever uses
 * them.
 */
export async function resolveCodes(
  settings: Merged,
  readFile: ReadFile,
  shard: Shard,
): Promise<CodeSettings> {
  const codes = settings.find('service_codes');
  const origin = settings.origin('service_codes');
  if (codes === undefined || origin === undefined) {
    return {
      serviceCodes: [],
      elsewhere: new Set(),
      problems: [missing('service_codes', 'at least one service code')],
    };
  }
  const shared = await sharedSecret(settings, readFile);
  const names = codes.map((code) => code.service_code);
  const own = await shareOut(names, shard);
  const given = codes.map((code, index) => ({ code, index, origin, isOwn: own.has(code.service_code) }));
  const secrets = await Promise.all(given.map(async (one) => (await ownSecret(one, readFile)) ?? shared));
  const lacksUrl =
    settings.find('upstream.base_url') === undefined && codes.some((code) => code.base_url === undefined);
  return {
    serviceCodes: given
      .filter(({ isOwn }) => isOwn)
      .map(({ code, index }) => resolveCode(code, textOf(secrets[index]), settings)),
    elsewhere: new Set(names.filter((name) => !own.has(name))),
    problems: [
      ...(lacksUrl ? [missing('upstream.base_url', 'the address of the service')] : []),
      ...findDuplicates(codes, origin.place),
      ...(typeof shared === 'object' ? [shared] : []),
      ...given.flatMap((one) => secretProblems(one, secrets[one.index], shared)),
      ...staleProblems(settings),
      ...given.flatMap((one) => ownStaleProblems(one, settings)),
    ],
  };
}

interface GivenCode {
  readonly code: ServiceCodeEntry;
  readonly index: number;
  /** Where the list stands. */
  readonly origin: Entry;
  /** Whether this shard polls it. */
  readonly isOwn: boolean;
}

function resolveCode(code: ServiceCodeEntry, secret: string, settings: Merged): ServiceCodeSettings {
  return {
    serviceCode: code.service_code,
    baseUrl: code.base_url ?? settings.find('upstream.base_url') ?? '',
    secret,
    timeoutMs: code.timeout ?? settings.read('upstream.timeout'),
    stallAfterMs: code.stall_after ?? settings.read('poll.stall_after'),
    ...rhythmOf(code, settings),
  };
}

function rhythmOf(code: ServiceCodeEntry, settings: Merged): { intervalMs: number; staleAfterMs: number } {
  const intervalMs = code.interval ?? settings.read('poll.interval');
  const staleAfterMs = code.stale_after ?? settings.find('poll.stale_after') ?? 3 * intervalMs;
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

async function ownSecret({ code, index, origin, isOwn }: GivenCode, readFile: ReadFile): Promise<Secret> {
  const path = code.secret_file;
  if (path === undefined) return code.secret;
  const place = origin.place([index, 'secret_file']);
  if (code.secret !== undefined) return bothGiven(place, origin.place([index, 'secret']));
  if (!isOwn) return '';
  return await readSecret(readFile, { path, place, folder: origin.folder });
}

function bothGiven(place: string, other: string): Problem {
  return { place, message: mismatch('either a secret or a file with it', `both; the secret is at ${other}`) };
}

/** Problems of the code's own secret; what is wrong with the shared one is told once. */
function secretProblems(
  { code, index, origin }: GivenCode,
  secret: Secret,
  shared: Secret,
): readonly Problem[] {
  if (typeof secret === 'string') return [];
  if (secret !== undefined) return secret === shared ? [] : [secret];
  const remedy =
    "set the code's secret or secret_file, or XVS_SECRET or XVS_SECRET_FILE for every code without";
  const expected = `a secret for service code ${show(code.service_code)}`;
  return [{ place: origin.place([index]), message: mismatch(expected, 'none', remedy) }];
}

function staleProblems(settings: Merged): readonly Problem[] {
  const staleAfterMs = settings.find('poll.stale_after');
  const place = settings.origin('poll.stale_after')?.place();
  if (staleAfterMs === undefined || place === undefined) return [];
  return tooShort(place, staleAfterMs, settings.read('poll.interval'));
}

function ownStaleProblems({ code, index, origin }: GivenCode, settings: Merged): readonly Problem[] {
  const own = code.stale_after === undefined ? 'interval' : 'stale_after';
  if (code[own] === undefined) return [];
  const { staleAfterMs, intervalMs } = rhythmOf(code, settings);
  return tooShort(origin.place([index, own]), staleAfterMs, intervalMs);
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
