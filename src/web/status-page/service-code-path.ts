/** Where the pages of single service codes are. */
const PREFIX = '/service-codes/';
const QUERY_KEY = 'service_code';

/** The address of a service code's page. */
export function codeAddress(serviceCode: string): string {
  const code = encodeURIComponent(serviceCode.toWellFormed());
  // A path that ends in dots is another path to browsers, escaped or not.
  return /^\.\.?$/.test(serviceCode) ? `${PREFIX}?${QUERY_KEY}=${code}` : PREFIX + code;
}

/** Whether a path is that of a service code's page. */
export function isCodeAddress(path: string): boolean {
  return path.startsWith(PREFIX);
}

/** Whose page such an address is; `undefined` where it can be no one's. */
export function codeOfAddress(path: string, query: URLSearchParams): string | undefined {
  const rest = path.slice(PREFIX.length);
  if (rest === '') return query.get(QUERY_KEY) ?? undefined;
  try {
    return decodeURIComponent(rest);
  } catch {
    return undefined;
  }
}
