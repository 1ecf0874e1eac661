import { BlockList, isIP, isIPv6 } from 'node:net';

interface Entry {
  readonly name: string;
  /** Of an address or a network. */
  readonly addresses: BlockList | undefined;
  readonly port: string | undefined;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * The hosts of `no_proxy`, in the forms of curl and Go, separated by commas or spaces: `host`, `.domain`,
 * `*.domain`, IP addresses, networks such as `10.0.0.0/8`, each with an optional `:port`, and `*` for all.
 * A name includes its subdomains.
 */
export class NoProxy {
  readonly #entries: readonly Entry[];

  constructor(text: string) {
    this.#entries = text
      .split(/[,\s]+/)
      .filter((entry) => entry !== '')
      .map(parseEntry);
  }

  /** Whether to connect to an origin directly. */
  includes(origin: string): boolean {
    const url = new URL(origin);
    const port = url.port || DEFAULT_PORTS[url.protocol];
    const host = normalizeHost(url.hostname);
    return this.#entries.some(
      (entry) => (entry.port === undefined || entry.port === port) && matchesHost(entry, host),
    );
  }
}

function parseEntry(text: string): Entry {
  const [, host = text, port] = isIPv6(text) ? [] : (/^(.+?)(?::(\d+))?$/.exec(text) ?? []);
  const name = normalizeHost(host.replace(/^\*?\./, ''));
  return { name, addresses: parseAddresses(name), port };
}

/** An address or a network; undefined for a name and for what is neither. */
function parseAddresses(text: string): BlockList | undefined {
  const [address = '', prefix, ...more] = text.split('/');
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  const bits = family === 'ipv6' ? 128 : 32;
  const prefixBits = prefix === undefined ? bits : /^\d+$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (isIP(address) === 0 || more.length > 0 || !(prefixBits <= bits)) return undefined;
  const addresses = new BlockList();
  addresses.addSubnet(address, prefixBits, family);
  return addresses;
}

function matchesHost({ name, addresses }: Entry, host: string): boolean {
  if (name === '*') return true;
  if (addresses !== undefined)
    return isIP(host) !== 0 && addresses.check(host, isIPv6(host) ? 'ipv6' : 'ipv4');
  return host === name || host.endsWith(`.${name}`);
}

/** Lower case, without the brackets of an IPv6 address and the dot at the end of a fully qualified name. */
function normalizeHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]/, '$1')
    .replace(/\.$/, '');
}
