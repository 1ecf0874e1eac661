import { createHash } from 'node:crypto';
import type { ReadFile } from '../../config/files.ts';
import { readText } from '../../config/files.ts';
import { ConfigError } from '../../config/problem.ts';
import type { TlsFront } from './tls-front.ts';
import { readTlsFront } from './tls-front.ts';
import type { RateLimit, WebFile } from './web-file.ts';
import { parseWebFile } from './web-file.ts';

/** How the web server guards itself. It never changes; a change of the file gives another one. */
export interface WebConfiguration extends Omit<WebFile, 'tls'> {
  readonly tls: TlsFront | undefined;
  readonly rateLimit: RateLimit | undefined;
}

/** Without a web configuration file: plain HTTP, for everyone. */
export const OPEN: WebConfiguration = {
  tls: undefined,
  headers: {},
  users: new Map(),
  rateLimit: undefined,
};

/** Reads a web configuration file and the certificates that it names; rejects with a ConfigError. */
export async function loadWebConfiguration(path: string, readFile: ReadFile): Promise<WebConfiguration> {
  const text = await readText(readFile, { path, place: 'web.config.file', folder: undefined });
  if (typeof text !== 'string') throw new ConfigError([text]);
  const { tls, ...rest } = parseWebFile(text, path);
  return { ...rest, tls: tls === undefined ? undefined : await readTlsFront(tls, readFile) };
}

/** What loading came to, and a digest of all that was read for it: the same digest, the same outcome. */
export interface LoadAttempt {
  readonly outcome: WebConfiguration | ConfigError;
  readonly digest: string;
}

/** Loads, and tells mistakes as an outcome. */
export async function tryWebConfiguration(path: string, readFile: ReadFile): Promise<LoadAttempt> {
  const read = new Map<string, string>();
  const outcome = await loadWebConfiguration(path, (name) => noted(read, name, readFile)).catch(
    (error: unknown) => {
      if (error instanceof ConfigError) return error;
      throw error;
    },
  );
  const inOrder = [...read].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { outcome, digest: createHash('sha256').update(JSON.stringify(inOrder)).digest('hex') };
}

async function noted(read: Map<string, string>, name: string, readFile: ReadFile): Promise<string> {
  try {
    const text = await readFile(name);
    read.set(name, `text ${text}`);
    return text;
  } catch (error) {
    read.set(name, `error ${error instanceof Error && 'code' in error ? String(error.code) : ''}`);
    throw error;
  }
}
