import { isIPv6 } from 'node:net';
import type { Format } from './format.ts';
import { accept, refuse, reject, splitList } from './format.ts';
import { mismatch } from './problem.ts';

/** Where the exporter listens; without a host, on every address. */
export interface ListenAddress {
  readonly host: string | undefined;
  readonly port: number;
}

const TASK_LIST_PATH = '/api/20140928/task_list';
const LISTEN_ADDRESS = /^(?:\[([^[\]]+)\]|([A-Za-z0-9._-]*)):(\d{1,5})$/;
const TELEMETRY_PATH = /^(?:\/[A-Za-z0-9._~-]+)+$/;

/** Paths with a meaning of their own; beside them everything below `/-/`. */
const FIXED_PATHS: readonly string[] = ['/', '/sd'];

/** Address of the service without the path of the call, and without a slash at its end. */
export const baseUrl: Format<string> = {
  name: 'URL',
  parse(raw) {
    const expected = 'an http or https URL such as https://live.example.com';
    if (typeof raw !== 'string') return reject(expected, raw);
    // Not even a broken URL is shown when it may hold a password: `user:password@host` parses as a scheme.
    if (raw.includes('@'))
      return refuse(mismatch(`${expected}, without user and password`, 'one with "@" (not shown)'));
    if (/[?#]/.test(raw)) return reject(`${expected}, without "?" and "#"`, raw.replace(/(?<=[?#]).*/s, '…'));
    const url = URL.canParse(raw) ? new URL(raw) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol)) return reject(expected, raw);
    const path = url.pathname.replace(/\/+$/, '');
    if (path.endsWith(TASK_LIST_PATH))
      return reject(`the URL without ${TASK_LIST_PATH}, which is added to it`, raw);
    return accept(url.origin + path);
  },
};

/** `host:port`, `:port` or `[::1]:port`. */
const listenAddress: Format<ListenAddress> = {
  name: 'address',
  parse(raw) {
    const expected = 'an address such as :20928, localhost:20928 or [::1]:20928';
    const match = typeof raw === 'string' ? LISTEN_ADDRESS.exec(raw) : null;
    const [, ipv6, host, port] = match ?? [];
    if (match === null || Number(port) > 65_535) return reject(expected, raw);
    if (ipv6 !== undefined && !isIPv6(ipv6)) return reject(expected, raw);
    const named = ipv6 ?? host;
    return accept({ host: named === '' ? undefined : named, port: Number(port) });
  },
};

/** Listen addresses: a text with commas, or a list. */
export const listenAddressList: Format<readonly ListenAddress[]> = {
  name: 'comma-separated addresses',
  parse(raw) {
    const parsed = splitList(raw).map((entry) => listenAddress.parse(entry));
    const issues = parsed.flatMap((result, index) =>
      result.ok ? [] : result.issues.map((issue) => ({ ...issue, path: [index] })),
    );
    if (issues.length > 0) return { ok: false, issues };
    const addresses = parsed.flatMap((result) => (result.ok ? [result.value] : []));
    return addresses.length > 0 ? accept(addresses) : reject('at least one address', raw);
  },
};

/** Path of the metrics: any but those that mean something else. */
export const telemetryPath: Format<string> = {
  name: 'path',
  parse(raw) {
    if (typeof raw !== 'string' || (raw !== '/' && !TELEMETRY_PATH.test(raw))) {
      return reject('a path such as /metrics', raw);
    }
    const isFixed = FIXED_PATHS.includes(raw) || raw.startsWith('/-/') || raw.startsWith('/service-codes/');
    return isFixed ? reject('a path that is not taken (/, /sd, /-/…, /service-codes/…)', raw) : accept(raw);
  },
};
