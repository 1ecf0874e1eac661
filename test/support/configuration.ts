import { ConfigError } from '../../src/config/problem.ts';
import type { Configuration } from '../../src/config/configuration.ts';
import { parseCommandLine } from '../../src/config/command-line.ts';
import { load as loadSettings, type Loaded } from '../../src/config/loading.ts';
import { noHostName } from './no-host-name.ts';

/** Stands in every place of a test where a secret can be put. */
export const SECRET = 'hunter2-is-secret';

/** Files of a test: path to text, or to the code of the error that reading them ends in. */
export type Files = Readonly<Record<string, string | { readonly code: string }>>;

/** Reads from files of a test. */
export function readFrom(files: Files): (path: string) => Promise<string> {
  return (path) => {
    const file = files[path] ?? { code: 'ENOENT' };
    if (typeof file === 'string') return Promise.resolve(file);
    return Promise.reject(Object.assign(new Error(`${file.code}: ${path}`), file));
  };
}

export interface Case {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The name of the machine, which nothing may ask for without need. */
  readonly hostName?: string;
  readonly files?: Files;
  /** Text of `/etc/xvs.yml`, which is then the configuration file. */
  readonly yml?: string;
}

/** Loads what a command line, an environment and files say. */
export async function load(given: Case): Promise<Configuration> {
  return (await loadedFrom(given)).configuration;
}

/** As {@link load}, with where each setting came from. */
export function loadedFrom({ args = [], env = {}, files = {}, hostName, yml }: Case): Promise<Loaded> {
  const file = yml === undefined ? [] : ['--config.file=/etc/xvs.yml'];
  return loadSettings({
    flags: parseCommandLine([...file, ...args]).flags,
    env,
    hostName: hostName === undefined ? noHostName : () => hostName,
    readFile: readFrom(yml === undefined ? files : { ...files, '/etc/xvs.yml': yml }),
  });
}

/** The message of the configuration error that a call ends in. */
export async function messageOf(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('Expected a ConfigError, found none');
}

/** What every configuration needs. */
export const NEEDED = {
  XVS_UPSTREAM_BASE_URL: 'https://live.example.com',
  XVS_SERVICE_CODES: 'TESTING',
  XVS_SECRET: SECRET,
};
