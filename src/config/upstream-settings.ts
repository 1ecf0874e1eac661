import type { Problem } from './config-error.ts';
import { expectedFound } from './config-error.ts';
import { findKeyPairMistake } from './key-pair.ts';
import type { ReadFile } from './files.ts';
import { readPem } from './files.ts';
import type { Environment, MergedSettings } from './sources.ts';

/** PEM texts. `cert` and `key` are either both set or both missing. */
interface TlsSettings {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Proxies from the environment of the process, in the variables that curl reads. */
interface ProxySettings {
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
  readonly noProxy?: string;
}

/** How to connect to the service, whatever the service code. */
export interface UpstreamSettings extends Readonly<ReturnType<typeof readUpstreamLimits>> {
  readonly tls: TlsSettings;
  readonly proxy: ProxySettings;
}

export async function readUpstreamSettings(
  settings: MergedSettings,
  environment: Environment,
  readFile: ReadFile,
): Promise<{ readonly upstream: UpstreamSettings; readonly problems: readonly Problem[] }> {
  const problems: Problem[] = [];
  const tls = await readTlsSettings(settings, readFile, problems);
  const proxy = readProxySettings(environment, problems);
  return { upstream: { ...readUpstreamLimits(settings), tls, proxy }, problems };
}

function readUpstreamLimits({ get }: MergedSettings) {
  return {
    timeoutMs: get('upstream.timeout'),
    maxResponseBytes: get('upstream.max_response_size'),
    maxConnections: get('upstream.max_connections'),
  };
}

const PEM_FILES = [
  { name: 'ca', path: 'upstream.ca_file', kind: 'CERTIFICATE' },
  { name: 'cert', path: 'upstream.cert_file', kind: 'CERTIFICATE' },
  { name: 'key', path: 'upstream.key_file', kind: 'PRIVATE KEY' },
] as const;

async function readTlsSettings(
  settings: MergedSettings,
  readFile: ReadFile,
  problems: Problem[],
): Promise<TlsSettings> {
  const tls: { ca?: string; cert?: string; key?: string } = {};
  for (const { name, path, kind } of PEM_FILES) {
    const file = settings.get(path);
    if (file === undefined) continue;
    const reference = { path: file, location: settings.locate(path), folder: settings.origin(path)?.folder };
    const pem = await readPem(readFile, reference, kind);
    if (typeof pem === 'string') tls[name] = pem;
    else problems.push(pem);
  }
  const mistake =
    tls.cert === undefined || tls.key === undefined ? undefined : findKeyPairMistake(tls.cert, tls.key);
  if (mistake !== undefined)
    problems.push({ location: settings.locate(`upstream.${mistake.part}_file`), message: mistake.message });
  return tls;
}

/** Reads `http_proxy`, `https_proxy` and `no_proxy`. */
export function readProxySettings(environment: Environment, problems: Problem[]): ProxySettings {
  const httpProxy = readProxyUrl(environment, 'http_proxy', problems);
  const httpsProxy = readProxyUrl(environment, 'https_proxy', problems);
  const noProxy = readVariable(environment, 'no_proxy')?.value;
  return {
    ...(httpProxy !== undefined && { httpProxy }),
    ...(httpsProxy !== undefined && { httpsProxy }),
    ...(noProxy !== undefined && { noProxy }),
  };
}

/** A variable in lower case, else in upper case, as curl reads them; an empty one counts as not set. */
function readVariable(
  environment: Environment,
  lowerCaseName: string,
): { readonly name: string; readonly value: string } | undefined {
  return [lowerCaseName, lowerCaseName.toUpperCase()]
    .map((name) => ({ name, value: environment[name] ?? '' }))
    .find(({ value }) => value !== '');
}

/** The URL of a proxy; without a scheme it is an HTTP proxy, as for curl. */
function readProxyUrl(
  environment: Environment,
  lowerCaseName: string,
  problems: Problem[],
): string | undefined {
  const variable = readVariable(environment, lowerCaseName);
  if (variable === undefined) return undefined;
  const { name, value } = variable;
  const url = value.includes('://') ? value : `http://${value}`;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  // The value is not shown: it may contain the password of the proxy.
  const message = expectedFound('a proxy such as http://proxy.example.com:3128', 'a string (not shown)');
  problems.push({ location: `environment variable ${name}`, message });
  return undefined;
}
