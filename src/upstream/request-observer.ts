import type { ListingAddress } from './address.ts';
import { stringToSign, type SigningScheme } from './signing.ts';

/** A request as it may be shown: the signature and the secret are masked. */
export interface ShownRequest {
  /** Without line ends: `GET /api/20140928/task_list?service_code=TESTING HTTP/1.1`. */
  readonly line: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly stringToSign: string;
}

/** The head of an answer. */
export interface AnswerHead {
  readonly status: number;
  /** A header by its name in lower case. */
  header(this: void, name: string): string | undefined;
}

/** Is told of what goes to and fro. Of a request that is sent once more, `asked` is called twice. */
export interface ExchangeObserver {
  asked(request: ShownRequest): void;
  answered(head: AnswerHead): void;
  /** So many more bytes of the body, as they came: still compressed. */
  received(bytes: number): void;
}

interface Signed {
  readonly secret: string;
  readonly signing: SigningScheme;
}

/** What may be shown of a request with the given headers, the signature among them. */
export function describeRequest(
  { secret, signing }: Signed,
  address: ListingAddress,
  headers: Readonly<Record<string, string>>,
): ShownRequest {
  const { signatureHeader, timestampHeader, template } = signing;
  const signature = headers[signatureHeader] ?? '';
  return {
    line: `GET ${address.url.slice(address.origin.length)} HTTP/1.1`,
    headers: {
      host: new URL(address.origin).host,
      ...headers,
      [signatureHeader]: `<signature of ${signature.length} characters>`,
    },
    // Nobody should write the secret into the template, but who did shall not see it here.
    stringToSign: stringToSign(
      template.replaceAll(secret, '<secret>'),
      address,
      headers[timestampHeader] ?? '',
    ),
  };
}

/** A body, unchanged, whose bytes the observer is told of. */
export async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  observer: ExchangeObserver,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    observer.received(chunk.length);
    yield chunk;
  }
}
