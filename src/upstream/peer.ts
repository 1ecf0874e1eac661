import type { Attempt } from './errors.ts';

/** A name can have any number of addresses. */
export const MAX_NAMED_ADDRESSES = 4;

/** What did not work: the service or, if the connection is one to it, the proxy. */
export interface Peer {
  readonly role: 'service' | 'proxy';
  readonly url: URL;
  /** Where its address is set. */
  readonly setting: string;
  /** The base URL of the service. */
  readonly service: URL;
  /** The addresses that were tried, or the host if they are not known. */
  readonly addresses: readonly string[];
}

/** `proxy` is its URL, if the error is one of it; `baseUrl` that of the service. */
export function describePeer(
  { proxy, attempts }: { readonly proxy: string | undefined; readonly attempts: readonly Attempt[] },
  baseUrl: string,
): Peer {
  const service = new URL(baseUrl);
  const url = proxy === undefined ? service : new URL(proxy);
  const tried = attempts.flatMap(({ address }) => address ?? []);
  return {
    role: proxy === undefined ? 'service' : 'proxy',
    url,
    setting: proxy === undefined ? 'upstream.base_url' : 'http_proxy or https_proxy',
    service,
    addresses: tried.length === 0 ? [url.host] : tried.slice(0, MAX_NAMED_ADDRESSES),
  };
}

/** Asks whether the addresses that were tried are right, which only the operator knows. */
export const askForAddress =
  (failure: string, check: string) =>
  ({ addresses, role, setting }: Peer): string => {
    const list = new Intl.ListFormat('en').format(addresses);
    return addresses.length > 1
      ? `${list} accepted no connection; are these the addresses of the ${role}? If they are, check each of them; else check ${setting} and DNS.`
      : `${list} ${failure}; is that the address of the ${role}? If it is, ${check}; else check ${setting} and DNS.`;
  };

export const askForSilentAddress = askForAddress(
  'did not answer',
  'check that the server runs, and the firewalls and routes on the way',
);

export const askNameServers = ({ url: { hostname } }: Peer): string =>
  `No name server told this machine the address of ${hostname}. Check its DNS servers, and the way to them.`;

export const showCertificate = ({ url: { hostname, port } }: Peer): string =>
  `openssl s_client -showcerts -connect ${hostname}:${port || 443}`;

export const checkClientCertificate = ({ url: { host } }: Peer): string =>
  `The server at ${host} rejected the client certificate, or requires one. Check upstream.cert_file and upstream.key_file: whether the certificate is valid, for clients, and of an authority that the server trusts.`;
