/** Formats an address or a name with a port as in a URL; an IPv6 address gets brackets. */
export function formatHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
