/** An answer without a socket. */
export interface WebResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/** An answer that no one stores, and whose type no browser guesses anew: a cache once kept a `/metrics`. */
export function respond(
  status: number,
  body: string | Buffer,
  contentType: string,
  headers: Readonly<Record<string, string>> = {},
): WebResponse {
  return {
    status,
    headers: {
      'Content-Type': contentType,
      'Content-Length': String(Buffer.byteLength(body)),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...headers,
    },
    body,
  };
}

/** An answer of one line. */
export function respondText(
  status: number,
  line: string,
  headers: Readonly<Record<string, string>> = {},
): WebResponse {
  return respond(status, `${line}\n`, 'text/plain; charset=utf-8', headers);
}
