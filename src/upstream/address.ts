/** Path of the operation, relative to the base URL ("Endpoints" of the interface). */
export const TASK_LIST_PATH = '/api/20140928/task_list';

/** The address of a listing, in the forms needed to sign and to send the request. */
export interface ListingAddress {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path as sent, without the query. */
  readonly path: string;
  /** Query as signed: not percent-encoded, without the leading `?`. */
  readonly query: string;
  /** Complete URL as sent, with a percent-encoded query. */
  readonly url: string;
}

/**
 * Builds the address of a service code's listing ("Endpoints" of the interface).
 *
 * The signed path is the path that is sent, including the path of the base URL. If a proxy strips a prefix, the service
 * receives a different path: write that path into the template of the signing scheme, as in
 * `/api/20140928/task_list{query}{timestamp}`.
 *
 * @param baseUrl - absolute http or https URL, optionally with a path. User name, password, query and fragment are
 *   ignored.
 * @throws TypeError if `baseUrl` is not a URL, URIError if `serviceCode` contains a lone surrogate.
 */
export function buildListingAddress(baseUrl: string, serviceCode: string): ListingAddress {
  const base = new URL(baseUrl);
  const path = base.pathname.replace(/\/+$/, '') + TASK_LIST_PATH;
  return {
    origin: base.origin,
    path,
    query: `service_code=${serviceCode}`,
    url: `${base.origin}${path}?service_code=${encodeURIComponent(serviceCode)}`,
  };
}
