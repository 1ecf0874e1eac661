export interface Credentials {
  readonly user: string;
  readonly password: string;
}

const BASIC = /^basic ([A-Za-z0-9+/]+={0,2})$/i;

/** Name and password of an `Authorization` header (RFC 7617, in UTF-8); a password may hold colons. */
export function parseBasicCredentials(header: string | undefined): Credentials | undefined {
  const encoded = BASIC.exec(header ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
