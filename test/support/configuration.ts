import { basename, dirname } from 'node:path';
import { findMatchingFiles } from '../../src/config/files.ts';
import type { ConfigFileSystem } from '../../src/config/files.ts';
import { ConfigError } from '../../src/config/config-error.ts';
import type { Configuration } from '../../src/config/configuration.ts';
import { parseCommandLine } from '../../src/commands/command-line.ts';
import { loadConfiguration as loadSettings, type LoadResult } from '../../src/config/loader.ts';

/** Stands in every place of a test where a secret can be put. */
export const SECRET = 'hunter2-is-secret';

/** Files of a test: path to text, or to the code of the error that reading them ends in. */
export type Files = Readonly<Record<string, string | { readonly code: string }>>;

/** The files of a test as a configuration has them. A folder is there when a file in it is, or it has an error. */
export function createFiles(files: Files): ConfigFileSystem {
  const failing = (code: string, path: string) => Object.assign(new Error(`${code}: ${path}`), { code });
  const readFile = (path: string): Promise<string> => {
    const file = files[path] ?? { code: 'ENOENT' };
    return typeof file === 'string' ? Promise.resolve(file) : Promise.reject(failing(file.code, path));
  };
  const listFolder = (path: string): Promise<readonly string[]> => {
    const own = files[path];
    if (typeof own === 'object') return Promise.reject(failing(own.code, path));
    const names = Object.keys(files).filter((file) => dirname(file) === path);
    return names.length > 0
      ? Promise.resolve(names.map((file) => basename(file)))
      : Promise.reject(failing('ENOENT', path));
  };
  return { readFile, listFolder, readStamp: readFile };
}

/** A host name lookup that must not happen. */
export function failHostNameLookup(): never {
  throw new Error('Expected no lookup of the host name');
}

/** For a configuration that names no files. */
export const NO_FILES: ConfigFileSystem = (() => {
  const refuse = () => Promise.reject(new Error('Expected no file to be read'));
  return { readFile: refuse, listFolder: refuse, readStamp: refuse };
})();

/** What loading a configuration needs of the machine, which has no name to be asked for. */
export function createSources({ readFile, listFolder }: ConfigFileSystem) {
  return {
    readFile,
    findMatchingFiles: (glob: string) => findMatchingFiles(glob, listFolder),
    hostName: failHostNameLookup,
  };
}

export interface ConfigurationInput {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The name of the machine, which nothing may ask for without need. */
  readonly hostName?: string;
  readonly files?: Files;
  /** Text of `/etc/xvs.yml`, which is then the configuration file. */
  readonly yml?: string;
}

/** Loads what a command line, an environment and files say. */
export async function loadConfiguration(given: ConfigurationInput): Promise<Configuration> {
  return (await loadWithSources(given)).configuration;
}

/** As {@link loadConfiguration}, with where each setting came from. */
export function loadWithSources({
  args = [],
  env = {},
  files = {},
  hostName,
  yml,
}: ConfigurationInput): Promise<LoadResult> {
  const file = yml === undefined ? [] : ['--config.file=/etc/xvs.yml'];
  return loadSettings({
    flags: parseCommandLine([...file, ...args]).flags,
    env,
    ...createSources(createFiles(yml === undefined ? files : { ...files, '/etc/xvs.yml': yml })),
    ...(hostName !== undefined && { hostName: () => hostName }),
  });
}

/** The message of the configuration error that a call ends in. */
export async function catchConfigErrorMessage(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('Expected a ConfigError, found none');
}

/** What every configuration needs. */
export const REQUIRED_ENVIRONMENT = {
  XVS_UPSTREAM_BASE_URL: 'https://live.example.com',
  XVS_SERVICE_CODES: 'TESTING',
  XVS_SECRET: SECRET,
};
