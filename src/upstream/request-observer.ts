import type { ResponseTimes } from './response-headers.ts';
import { createStringToSign, type ListingAddress, type SigningScheme } from './signing.ts';

/** A request with signature and secret masked. */
export interface RedactedRequest {
  /** Without line ending: `GET /api/20140928/task_list?service_code=TESTING HTTP/1.1`. */
  readonly line: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly stringToSign: string;
}

export interface ResponseHead extends ResponseTimes {
  readonly status: number;
  /**
   * Soonest expiry of the certificates that verify the service, in milliseconds since the Unix epoch;
   * undefined without TLS.
   */
  readonly certificateNotAfterMs: number | undefined;
  /** Host and port of the proxy that the request went through. */
  readonly viaProxy?: string | undefined;
  header(this: void, name: string): string | undefined;
}

/** Receives the events of a request. A request that is retried calls `onRequest` twice. */
export interface RequestObserver {
  /** For diagnostics: masking a request takes time. */
  readonly onRequest?: ((request: RedactedRequest) => void) | undefined;
  onResponse(head: ResponseHead): void;
  /** Called for each chunk of the body with its size before decoding. */
  readonly onBodyBytes?: ((bytes: number) => void) | undefined;
}

/** `headers` include the signature. */
export function redactRequest(
  secret: string,
  signing: SigningScheme,
  address: ListingAddress,
  headers: Readonly<Record<string, string>>,
): RedactedRequest {
  const { signatureHeader, timestampHeader, template } = signing;
  const signature = headers[signatureHeader] ?? '';
  return {
    line: `GET ${address.url.slice(address.origin.length)} HTTP/1.1`,
    headers: {
      host: new URL(address.origin).host,
      ...headers,
      [signatureHeader]: `<signature of ${signature.length} characters>`,
    },
    // The template should not contain the secret, but the operator may have written it there.
    stringToSign: createStringToSign(
      template.replaceAll(secret, '<secret>'),
      address,
      headers[timestampHeader] ?? '',
    ),
  };
}
