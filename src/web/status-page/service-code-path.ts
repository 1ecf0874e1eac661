const PATH_PREFIX = '/service-codes/';
const QUERY_PARAMETER = 'service_code';

/** The path of the page of a service code. */
export function formatServiceCodePath(serviceCode: string): string {
  const code = encodeURIComponent(serviceCode.toWellFormed());
  // Browsers resolve the segments "." and ".." even if they are percent-encoded.
  return /^\.\.?$/.test(serviceCode) ? `${PATH_PREFIX}?${QUERY_PARAMETER}=${code}` : PATH_PREFIX + code;
}

/** Whether a path is that of a service code's page. */
export function isServiceCodePath(path: string): boolean {
  return path.startsWith(PATH_PREFIX);
}

/** The service code of a page's path and query; `undefined` if they have none. */
export function parseServiceCodePath(path: string, query: URLSearchParams): string | undefined {
  const segment = path.slice(PATH_PREFIX.length);
  if (segment === '') return query.get(QUERY_PARAMETER) ?? undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
