const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const IPV6_GROUPS = 8;
const IPV6_NETWORK_GROUPS = 4;

/**
 * Returns what counts as one client: an IPv4 address, or the /64 network of an IPv6 address, because a single machine
 * can use every address of its network. `address` is a socket's `remoteAddress`.
 */
export function toClientKey(address: string | undefined): string {
  if (address === undefined) return '';
  const mapped = MAPPED_IPV4.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const omitted = tail === undefined ? 0 : IPV6_GROUPS - before.length - after.length;
  const groups = [...before, ...Array.from({ length: Math.max(0, omitted) }, () => '0'), ...after];
  return `${groups.slice(0, IPV6_NETWORK_GROUPS).join(':')}::/64`;
}
