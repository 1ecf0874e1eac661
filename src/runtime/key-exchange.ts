import { DEFAULT_CIPHERS } from 'node:tls';

/**
 * Groups of TLS without finite fields, as in Go. OpenSSL 3.0 would take ffdhe8192, of which one key exchange
 * holds the event loop for 0.2 s. Those of OpenSSL 3.5 are safe from quantum computers, too.
 */
function listGroups(opensslVersion: string): string {
  const [major = 0, minor = 0] = opensslVersion.split('.').map(Number);
  const knowsDefault = major > 3 || (major === 3 && minor >= 5);
  return knowsDefault ? 'DEFAULT:-ffdhe2048:-ffdhe3072' : 'X25519:P-256:P-384:P-521';
}

/**
 * The cipher suites without DHE, in which a server chooses a number of up to 10,000 bits: 1 s a handshake. A
 * list of suites of TLS 1.3 alone has none, and OpenSSL takes no list that only excludes.
 */
export function excludeDhe(ciphers: string): string {
  return ciphers.split(':').every((name) => name.startsWith('TLS_')) ? ciphers : `${ciphers}:!DHE`;
}

/** Options of both sides of TLS. */
export const KEY_EXCHANGE = { ecdhCurve: listGroups(process.versions.openssl) } as const;

/** Options of clients. */
export const CLIENT_KEY_EXCHANGE = { ...KEY_EXCHANGE, ciphers: excludeDhe(DEFAULT_CIPHERS) } as const;
