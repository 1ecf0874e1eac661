const LISTING_PATH = '/api/20140928/task_list';

/** Where a listing is, in the forms that sending and signing it need. */
export interface ListingAddress {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path as sent, without the query. */
  readonly path: string;
  /** Query before percent-encoding, without the leading `?`: what is signed. */
  readonly query: string;
  /** The whole address, with the query percent-encoded: what is sent. */
  readonly url: string;
}

/**
 * The address of a service code's listing ("Endpoints" of the interface).
 *
 * The path that is signed is the path that is sent, a prefix of the base URL included. Behind a proxy that takes
 * a prefix away, the service sees another path: write it literally in the template of the signing scheme, as in
 * `/api/20140928/task_list{query}{timestamp}`.
 *
 * @param baseUrl - absolute http or https URL; may have a path, with or without a slash at its end. User name,
 *   query and fragment are left out.
 * @throws TypeError where `baseUrl` is no URL, URIError where `serviceCode` has a lone surrogate.
 */
export function listingAddress(baseUrl: string, serviceCode: string): ListingAddress {
  const base = new URL(baseUrl);
  const path = base.pathname.replace(/\/+$/, '') + LISTING_PATH;
  return {
    origin: base.origin,
    path,
    query: `service_code=${serviceCode}`,
    url: `${base.origin}${path}?service_code=${encodeURIComponent(serviceCode)}`,
  };
}
