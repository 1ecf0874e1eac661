import { BlockList, isIP, isIPv6 } from 'node:net';

interface Entry {
  readonly name: string;
  /** The addresses of the entry, if it is an address or a network. */
  readonly addresses: BlockList | undefined;
  readonly port: string | undefined;
}

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
    const usedPort = url.port || (url.protocol === 'https:' ? '443' : '80');
    const host = normalizeHost(url.hostname);
    return this.#entries.some(
      ({ name, addresses, port = usedPort }) =>
        port === usedPort &&
        (name === '*' || host === name || host.endsWith(`.${name}`) || hasAddress(addresses, host)),
    );
  }
}

function parseEntry(text: string): Entry {
  const [, host = text, port] = isIPv6(text) ? [] : (/^(.+?)(?::(\d+))?$/.exec(text) ?? []);
  const name = normalizeHost(host.replace(/^\*?\./, ''));
  return { name, addresses: parseAddresses(name), port };
}

/** Reads an address or a network; returns undefined for a name. */
function parseAddresses(text: string): BlockList | undefined {
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d+))?$/.exec(text) ?? [];
  const addresses = new BlockList();
  try {
    if (isIPv6(address)) addresses.addSubnet(address, Number(prefix ?? 128), 'ipv6');
    else addresses.addSubnet(address, Number(prefix ?? 32), 'ipv4');
    return addresses;
  } catch {
    return undefined;
  }
}

function hasAddress(addresses: BlockList | undefined, host: string): boolean {
  return isIP(host) !== 0 && addresses?.check(host, isIPv6(host) ? 'ipv6' : 'ipv4') === true;
}

/** Removes capitals, the brackets of an IPv6 address and the dot at the end of a fully qualified name. */
function normalizeHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]/, '$1')
    .replace(/\.$/, '');
}
