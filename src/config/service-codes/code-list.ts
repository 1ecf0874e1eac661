import { ownCodes, type Shard } from '../../sharding/shard.ts';
import { expectedFound, type Problem } from '../config-error.ts';
import { readSecret, type ReadFile } from '../files.ts';
import type { ValuePath } from '../validation.ts';
import type { ServiceCodeEntry } from './schema.ts';

/** A secret, the problem of reading it, or undefined if none is set. */
export type Secret = string | Problem | undefined;

/** A service code as it was listed, with its own secret. */
export interface ListedCode {
  readonly entry: ServiceCodeEntry;
  /** Whether this shard polls it. */
  readonly isOwn: boolean;
  /** The text of a secret file is empty for a code of another shard. */
  readonly secret: Secret;
}

/** Service codes of one source: the setting, or a file. */
export interface CodeList {
  readonly codes: readonly ListedCode[];
  /** Formats the location of an entry, or of a part of it. */
  locate(this: void, path: ValuePath): string;
  /** Whether the codes are those of the setting, of a file that is as it was, or of one that is bad. */
  readonly isInEffect: boolean;
}

/**
 * Reads the secrets of the listed codes. The secret files of codes of other shards are not read: they may exist only where
 * they are needed.
 *
 * @param folder - for relative paths; undefined for the working directory
 */
export async function listCodes(
  entries: readonly ServiceCodeEntry[],
  { locate, folder }: Pick<CodeList, 'locate'> & { readonly folder?: string | undefined },
  { readFile, shard }: { readonly readFile: ReadFile; readonly shard: Shard },
): Promise<readonly ListedCode[]> {
  const own = await ownCodes(
    entries.map(({ service_code }) => service_code),
    shard,
  );
  const readOwnSecret = async (entry: ServiceCodeEntry, index: number): Promise<Secret> => {
    const { secret, secret_file: path } = entry;
    if (path === undefined) return secret;
    const file = {
      path,
      folder,
      // Only read on failure: finding a location parses the file again.
      get location() {
        return locate([index, 'secret_file']);
      },
    };
    if (secret !== undefined) return rejectBothSecrets(file.location, locate([index, 'secret']));
    return own.has(entry.service_code) ? await readSecret(readFile, file) : '';
  };
  return await Promise.all(
    entries.map(async (entry, index) => ({
      entry,
      isOwn: own.has(entry.service_code),
      secret: await readOwnSecret(entry, index),
    })),
  );
}

export function rejectBothSecrets(location: string, other: string): Problem {
  const found = `both; the secret is at ${other}`;
  return { location, message: expectedFound('either a secret or a secret file', found) };
}
