import { basename, dirname } from 'node:path';
import type { ConfigFileSystem } from '../../src/config/file-system.ts';
import { ConfigError } from '../../src/config/config-error.ts';
import type { Configuration } from '../../src/config/configuration.ts';
import { parseCommandLine } from '../../src/commands/command-line.ts';
import { ConfigurationSource, type LoadedConfiguration } from '../../src/config/configuration-source.ts';
import { METRIC_LABELS } from '../../src/metrics/catalogue.ts';

/** The secret of all tests of the configuration. Output that contains it is a leak. */
export const SECRET = 'hunter2-is-secret';

/** Files of a test by path: their text, or the code of the error that reading them throws. */
export type Files = Readonly<Record<string, string | { readonly code: string }>>;

/** Creates a file system with these files. A folder exists if it contains a file or has an error. */
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
  return { readFile, listFolder, readStamp: readFile, resolveLinks: (path) => Promise.resolve(path) };
}

/** Fails the test if the host name is looked up. */
export function failHostNameLookup(): never {
  throw new Error('Expected no lookup of the host name, found one');
}

/** Fails the test if a file is read. */
export const NO_FILES: ConfigFileSystem = (() => {
  const fail = () => Promise.reject(new Error('Expected no file to be read, found a read'));
  return { readFile: fail, listFolder: fail, readStamp: fail, resolveLinks: fail };
})();

export interface ConfigurationInput {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The host name of the machine. Without it, a lookup fails the test. */
  readonly hostName?: string;
  readonly files?: Files;
  /** The text of the configuration file `/etc/xvs.yml`. */
  readonly yml?: string;
}

/** Loads a configuration from a command line, an environment and files. */
export async function loadConfiguration(given: ConfigurationInput): Promise<Configuration> {
  return (await loadWithSources(given)).configuration;
}

/** Like {@link loadConfiguration}; also returns the source of each setting. */
export function loadWithSources(given: ConfigurationInput): Promise<LoadedConfiguration> {
  return createSource(given).load();
}

/** Creates a source of a configuration. It reads `files`, which the test may change, or a file system. */
export function createSource(
  { args = [], env = {}, files = {}, hostName, yml }: ConfigurationInput,
  fileSystem?: ConfigFileSystem,
): ConfigurationSource {
  const file = yml === undefined ? [] : ['--config.file=/etc/xvs.yml'];
  return new ConfigurationSource({
    flags: parseCommandLine([...file, ...args]).flags,
    env,
    hostName: hostName === undefined ? failHostNameLookup : () => hostName,
    metricLabels: METRIC_LABELS,
    ...(fileSystem ?? createFiles(yml === undefined ? files : { ...files, '/etc/xvs.yml': yml })),
  });
}

/** Returns the message of the configuration error that a call throws. Fails if it throws none. */
export async function catchConfigErrorMessage(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    // The user is another one on every machine.
    if (error instanceof ConfigError) return error.message.replaceAll(/for user \d+/g, 'for user 1000');
    throw error;
  }
  throw new Error('Expected a ConfigError, found none');
}

/** Environment variables of the smallest valid configuration. */
export const REQUIRED_ENVIRONMENT = {
  XVS_UPSTREAM_BASE_URL: 'https://live.example.com',
  XVS_SERVICE_CODES: 'TESTING',
  XVS_SECRET: SECRET,
};
