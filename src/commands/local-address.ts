/** Formats a listen address as `host:port` for a connection from this machine. All-interfaces addresses become loopback ones. */
export function formatLocalAddress(host: string | undefined, port: number): string {
  if (host === undefined || host === '0.0.0.0') return `127.0.0.1:${port}`;
  if (host === '::') return `[::1]:${port}`;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
