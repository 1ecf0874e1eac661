import { isIPv4, isIPv6 } from 'node:net';

/** How the server is spoken to. */
export type Scheme = 'http' | 'https';

const DEFAULT_PORTS: Readonly<Record<Scheme, number>> = { http: 80, https: 443 };
const MAX_PORT = 65_535;
const MAX_NAME_LENGTH = 253;

/** `name`, `name:port`, `[address]`, `[address]:port`; what name and address may be is looked at apart. */
const HOST = /^(?:\[(?<address>[^[\]]*)\]|(?<name>[^[\]:]*))(?::(?<port>[1-9]\d{0,4}))?$/;
/** Container engines have names with underscores, too. */
const LABEL = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/;

/**
 * Host and port of a `Host` header (RFC 9110, 7.2), with the scheme's port where it names none; `undefined` where it is
 * not a name of DNS, an IPv4 address or an IPv6 address in brackets.
 */
export function hostAndPort(header: string, scheme: Scheme): string | undefined {
  const { address, name, port = String(DEFAULT_PORTS[scheme]) } = HOST.exec(header)?.groups ?? {};
  if (Number(port) > MAX_PORT) return undefined;
  if (address !== undefined) return isAddress(address) ? `[${address}]:${port}` : undefined;
  return name !== undefined && isName(name) ? `${name}:${port}` : undefined;
}

/** A zone means something on one machine alone: nobody sends one. */
function isAddress(text: string): boolean {
  return isIPv6(text) && !text.includes('%');
}

/** What ends in a number has to be an address, as URLs have it: `1.2.3` is none, and no name either. */
function isName(text: string): boolean {
  const labels = text.replace(/\.$/, '').split('.');
  if (/^\d+$/.test(labels.at(-1) ?? '')) return isIPv4(text);
  return text.length <= MAX_NAME_LENGTH && labels.every((label) => LABEL.test(label));
}
