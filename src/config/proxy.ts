import type { ProxySettings } from './configuration.ts';
import type { Environment } from './layers.ts';
import type { Problem } from './problem.ts';
import { mismatch } from './problem.ts';

/** The variable in lower case, else in upper case, as curl looks for them; empty counts as not set. */
function lookUp(environment: Environment, name: string): { name: string; value: string } | undefined {
  const present = [name, name.toUpperCase()].map((key) => ({ name: key, value: environment[key] ?? '' }));
  return present.find(({ value }) => value !== '');
}

/** A proxy's URL; without a scheme it is an HTTP proxy, as for curl. */
function proxyUrl(found: { name: string; value: string }): string | Problem {
  const url = found.value.includes('://') ? found.value : `http://${found.value}`;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  // The value may hold the proxy's password.
  const message = mismatch('a proxy such as http://proxy.example.com:3128', 'a text (not shown)');
  return { place: `environment variable ${found.name}`, message };
}

/** Proxies from `http_proxy`, `https_proxy` and `no_proxy`, or the same in upper case. */
export function readProxies(environment: Environment): {
  proxy: ProxySettings;
  problems: readonly Problem[];
} {
  const http = lookUp(environment, 'http_proxy');
  const https = lookUp(environment, 'https_proxy');
  const none = lookUp(environment, 'no_proxy');
  const httpProxy = http === undefined ? undefined : proxyUrl(http);
  const httpsProxy = https === undefined ? undefined : proxyUrl(https);
  return {
    proxy: {
      ...(typeof httpProxy === 'string' ? { httpProxy } : {}),
      ...(typeof httpsProxy === 'string' ? { httpsProxy } : {}),
      ...(none === undefined ? {} : { noProxy: none.value }),
    },
    problems: [httpProxy, httpsProxy].filter((result) => typeof result === 'object'),
  };
}
