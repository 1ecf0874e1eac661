import { isIPv6 } from 'node:net';
import { z } from 'zod';
import { formatHostPort } from '../runtime/host-port.ts';
import { MAX_URL_CHARACTERS } from '../runtime/limits.ts';
import { TASK_LIST_PATH } from '../upstream/signing.ts';
import { expectedFound, formatUrl, formatValue } from './config-error.ts';
import { commaSeparated, schemaMeta } from './schemas.ts';
import { expected, parsedBy, reject } from './validation.ts';

/** A host, or all addresses of the machine, with a port; or the path of a Unix socket. */
export type ListenAddress =
  | { readonly host: string | undefined; readonly port: number; readonly socketPath?: undefined }
  | { readonly socketPath: string; readonly host?: undefined; readonly port?: undefined };

/** Why a text is no URL, for two common mistakes. */
export function findUrlHint(raw: string): string | undefined {
  const authority = /^[a-z]+:\/\/([^/?#]*)/i.exec(raw)?.[1] ?? '';
  if (/^[^[\]]*:[^[\]]*:/.test(authority)) return 'put an IPv6 address in brackets, as in [::1]:80';
  const port = Number(/:(\d+)$/.exec(authority)?.[1]);
  return port > 65_535 ? 'a port is at most 65535' : undefined;
}

/** An http or https URL without a trailing slash, user, query and fragment. */
function createBaseUrl(example: string, page: RegExp, expectedRoot: string) {
  const form = `an http or https URL such as ${example}`;
  return z
    .string(expected(form))
    .transform((raw, context) => {
      const fail = (expectation: string, found: string, hint?: string) =>
        reject(context, expectedFound(expectation, found, hint));
      if (raw.length > MAX_URL_CHARACTERS)
        return fail(`a URL of at most ${MAX_URL_CHARACTERS} characters`, formatUrl(raw));
      if (raw.includes('@')) return fail(`${form}, without user and password`, formatUrl(raw));
      if (/[?#]/.test(raw)) return fail(`${form}, without "?" and "#"`, formatValue(raw));
      const url = URL.canParse(raw) ? new URL(raw) : undefined;
      if (url === undefined || !/^https?:$/.test(url.protocol))
        return fail(form, formatValue(raw), findUrlHint(raw));
      const path = url.pathname.replace(/\/+$/, '');
      if (page.test(path)) return fail(expectedRoot, formatValue(raw));
      return url.origin + path;
    })
    .register(schemaMeta, { typeName: 'URL', json: { type: 'string', pattern: '^https?://[^@?#]+$' } });
}

export const baseUrl = createBaseUrl(
  'https://live.example.com',
  new RegExp(`${TASK_LIST_PATH}$`),
  `the URL without ${TASK_LIST_PATH}, which the exporter appends`,
);
export const grafanaUrl = createBaseUrl(
  'https://grafana.example.com',
  /\/(?:d|d-solo|dashboards|explore|alerting|login)(?:\/|$)/,
  'the URL of the start page, to which the exporter appends the path of a dashboard',
);
const LISTEN_ADDRESS = /^(?:\[([^[\]]+)\]|([A-Za-z0-9._-]*)):(\d{1,5})$/;
const UNIX_SOCKET = /^unix:(\/.+)$/;
/** The limit that every system supports; libuv cuts longer paths without an error. */
const MAX_SOCKET_PATH_BYTES = 103;

/** Parses `host:port`, `:port`, `[::1]:port` or `unix:/path`; undefined for anything else. */
function parseListenAddress(raw: unknown): ListenAddress | undefined {
  if (typeof raw !== 'string') return undefined;
  const socketPath = UNIX_SOCKET.exec(raw)?.[1];
  if (socketPath !== undefined)
    return Buffer.byteLength(socketPath) > MAX_SOCKET_PATH_BYTES ? undefined : { socketPath };
  const match = LISTEN_ADDRESS.exec(raw);
  const [, ipv6, name, digits] = match ?? [];
  const port = Number(digits);
  if (match === null || port > 65_535 || (ipv6 !== undefined && !isIPv6(ipv6))) return undefined;
  const host = ipv6 ?? name;
  return { host: host === '' ? undefined : host, port };
}

export function formatListenAddress({ host = '', port, socketPath }: ListenAddress): string {
  return socketPath === undefined ? formatHostPort(host, port) : `unix:${socketPath}`;
}

/**
 * Formats the authority of a URL for a request from this machine. All interfaces become the loopback one. A
 * URL cannot have the zone of an address (`%eth0`).
 */
export function formatLocalAddress({ host, port, socketPath }: ListenAddress): string {
  if (socketPath !== undefined) return 'localhost';
  if (host === undefined || host === '0.0.0.0') return `127.0.0.1:${port}`;
  if (host === '::') return `[::1]:${port}`;
  return formatHostPort(host.replace(/%.*/, ''), port);
}

const listenAddress = parsedBy(
  parseListenAddress,
  expected('an address such as :20928, localhost:20928, [::1]:20928 or unix:/run/xvs/exporter.sock', {
    remedy: (raw) => (typeof raw === 'string' ? findUrlHint(`tcp://${raw}`) : undefined),
  }),
);

export const listenAddressList = commaSeparated(
  z
    .array(listenAddress, expected('an address such as :20928, or a list of addresses'))
    .min(1, expected('at least one address'))
    .readonly(),
  'comma-separated addresses',
);

const TELEMETRY_PATH = /^(?:\/[A-Za-z0-9._~-]+)+$/;
const RESERVED_PATH = /^\/(?:$|sd$|-\/|service-codes\/)/;
const PATH_EXPECTED = expected('a path such as /metrics');

/** Path of the metrics: any path without another meaning. */
export const telemetryPath = z
  .string(PATH_EXPECTED)
  .refine((path) => path === '/' || TELEMETRY_PATH.test(path), PATH_EXPECTED)
  .refine(
    (path) => !RESERVED_PATH.test(path),
    expected('a path that is not reserved (/, /sd, /-/…, /service-codes/…)'),
  )
  .register(schemaMeta, { typeName: 'path' });
