import type { ClientOptions } from '../upstream/client.ts';
import { findUrlHint } from './addresses.ts';
import { expectedFound, formatUrl, type Problem } from './config-error.ts';
import type { ReadFile } from './file-system.ts';
import { findKeyPairMistake, readPem } from './pem.ts';
import type { Environment, MergedSettings } from './sources.ts';

/** How to connect to the service, whatever the service code. */
export type UpstreamSettings = Pick<
  ClientOptions,
  'timeoutMs' | 'maxResponseBytes' | 'maxConnections' | 'tls' | 'proxy'
>;

/** Reads the settings and the files that they name. */
export async function readUpstreamSettings(
  { get, file, locate }: MergedSettings,
  environment: Environment,
  readFile: ReadFile,
): Promise<{ readonly settings: UpstreamSettings; readonly problems: readonly Problem[] }> {
  const problems: Problem[] = [];
  const tls: { ca?: string; cert?: string; key?: string } = {};
  for (const { name, path, kind } of PEM_FILES) {
    const reference = file(path);
    if (reference === undefined) continue;
    const pem = await readPem(readFile, reference, kind);
    if (typeof pem === 'string') tls[name] = pem;
    else problems.push(pem);
  }
  const { cert, key } = tls;
  const mistake = cert === undefined || key === undefined ? undefined : findKeyPairMistake(cert, key);
  if (mistake !== undefined)
    problems.push({ location: locate(`upstream.${mistake.part}_file`), message: mistake.message });
  const settings = {
    timeoutMs: get('upstream.timeout'),
    maxResponseBytes: get('upstream.max_response_size'),
    maxConnections: get('upstream.max_connections'),
    tls,
    proxy: readProxySettings(environment, problems),
  };
  return { settings, problems };
}

const PEM_FILES = [
  { name: 'ca', path: 'upstream.ca_file', kind: 'CERTIFICATE' },
  { name: 'cert', path: 'upstream.cert_file', kind: 'CERTIFICATE' },
  { name: 'key', path: 'upstream.key_file', kind: 'PRIVATE KEY' },
] as const;

/**
 * Reads `http_proxy`, `https_proxy` and `no_proxy`: a variable in lower case, else in upper case, as curl does; an empty one
 * counts as not set.
 */
function readProxySettings(environment: Environment, problems: Problem[]): ClientOptions['proxy'] {
  const readVariable = (name: string): string | undefined =>
    environment[name] || environment[name.toUpperCase()] || undefined;
  const readUrl = (name: string): string | undefined => {
    const value = readVariable(name);
    if (value === undefined) return undefined;
    // Without a scheme it is an HTTP proxy, as for curl.
    const url = value.includes('://') ? value : `http://${value}`;
    if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
    const form = 'a proxy such as http://proxy.example.com:3128';
    const message = expectedFound(form, formatUrl(value), findUrlHint(url));
    const variable = environment[name] === value ? name : name.toUpperCase();
    problems.push({ location: `environment variable ${variable}`, message });
    return undefined;
  };
  return {
    httpProxy: readUrl('http_proxy'),
    httpsProxy: readUrl('https_proxy'),
    noProxy: readVariable('no_proxy'),
  };
}
