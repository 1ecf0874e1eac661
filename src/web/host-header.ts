import { isIPv4, isIPv6 } from 'node:net';
import type { Scheme } from './request.ts';

const DEFAULT_PORTS: Readonly<Record<Scheme, number>> = { http: 80, https: 443 };
const MAX_PORT = 65_535;
const MAX_NAME_LENGTH = 253;

/** `name`, `name:port`, `[address]` or `[address]:port`. */
const HOST_HEADER = /^(?:\[(?<address>[^[\]]*)\]|(?<name>[^[\]:]*))(?::(?<port>[1-9]\d{0,4}))?$/;
/** Allows underscores, which container engines use in names. */
const DNS_LABEL = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/;

/**
 * Parses a `Host` header (RFC 9110, 7.2) into `host:port`, with the default port of the scheme if it has none;
 * `undefined` unless the host is a DNS name, an IPv4 address or an IPv6 address in brackets.
 */
export function parseHostHeader(header: string, scheme: Scheme): string | undefined {
  const { address, name, port = String(DEFAULT_PORTS[scheme]) } = HOST_HEADER.exec(header)?.groups ?? {};
  if (Number(port) > MAX_PORT) return undefined;
  if (address !== undefined) return isIPv6WithoutZone(address) ? `[${address}]:${port}` : undefined;
  return name !== undefined && isNameOrIPv4(name) ? `${name}:${port}` : undefined;
}

/** A zone is valid on one machine only. */
function isIPv6WithoutZone(text: string): boolean {
  return isIPv6(text) && !text.includes('%');
}

/** As in URLs, a host whose last label is a number must be an IPv4 address: `1.2.3` is invalid. */
function isNameOrIPv4(text: string): boolean {
  const labels = text.replace(/\.$/, '').split('.');
  if (/^\d+$/.test(labels.at(-1) ?? '')) return isIPv4(text);
  return text.length <= MAX_NAME_LENGTH && labels.every((label) => DNS_LABEL.test(label));
}
