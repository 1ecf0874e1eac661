import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { createProblem, expectedFound, formatValue, type Problem } from './config-error.ts';
import { readErrorCode, readText, type FileReference, type ReadFile } from './file-system.ts';
import { splitCertificates } from '../runtime/certificates.ts';

/** Reads a PEM file that contains an item of the given kind. Every certificate of it must be whole. */
export async function readPem(
  readFile: ReadFile,
  file: FileReference,
  kind: 'CERTIFICATE' | 'PRIVATE KEY',
): Promise<string | Problem> {
  const text = await readText(readFile, file);
  if (typeof text !== 'string') return text;
  const fail = (expected: string, found: string): Problem =>
    createProblem(file.locate(), expected, `${formatValue(file.path)}, ${found}`);
  const hasKind = kind === 'PRIVATE KEY' ? KEY_START.test(text) : splitCertificates(text).length > 0;
  if (!hasKind) return fail(`a PEM file with a ${kind}`, 'which contains none');
  if (MISPLACED_START.test(text)) {
    const expected = 'each BEGIN of a certificate at the beginning of its line';
    return fail(expected, 'with one behind other characters; remove blanks, or a byte order mark');
  }
  const bad = findBadCertificate(text);
  return bad === undefined ? text : fail('whole certificates (PEM)', `whose ${bad}`);
}

/** OpenSSL ignores what follows the last certificate that it can read. */
function findBadCertificate(text: string): string | undefined {
  const blocks = splitCertificates(text);
  for (const [index, block] of blocks.entries()) {
    const code = catchErrorCode(() => new X509Certificate(block));
    if (code !== undefined) return `certificate ${index + 1} of ${blocks.length} is broken (${code})`;
  }
  return undefined;
}

/**
 * Finds authorities that have signed each other. Node.js, which takes the first certificate that can be an
 * issuer (names in any case, key identifiers), follows them for ever.
 */
export function findCaMistake(text: string): string | undefined {
  const certificates = splitCertificates(text).map((pem) => new X509Certificate(pem));
  /** Those that lead to a self-signed or missing authority. */
  const ending = new Set<X509Certificate>();
  for (const certificate of certificates) {
    const path = new Set<X509Certificate>();
    let next: X509Certificate | undefined = certificate;
    while (next !== undefined && !ending.has(next) && !path.has(next)) {
      path.add(next);
      next = findIssuer(next, certificates);
    }
    if (next !== undefined && path.has(next)) return describeCircle([...path].slice([...path].indexOf(next)));
    for (const one of path) ending.add(one);
  }
  return undefined;
}

function findIssuer(
  certificate: X509Certificate,
  certificates: readonly X509Certificate[],
): X509Certificate | undefined {
  if (certificate.checkIssued(certificate)) return undefined;
  return certificates.find((candidate) => certificate.checkIssued(candidate));
}

function describeCircle(certificates: readonly X509Certificate[]): string {
  const names = certificates.map(({ subject }) => subject.replaceAll('\n', ', '));
  const circle = formatValue(names.join(' and '));
  const remedy = 'remove one, or put their self-signed certificates first';
  return expectedFound('authorities that lead to a self-signed one', `a circle of ${circle}`, remedy);
}

const KEY_START = /^-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/m;
/** OpenSSL skips such a certificate without a word. In a comment, it is meant to. */
const MISPLACED_START = /^(?!#).+-----BEGIN (?:[A-Z0-9]+ )?CERTIFICATE-----/m;

/** Checks that TLS can use a certificate with its key (PEM). OpenSSL's own texts could quote the key. */
export function findKeyPairMistake(
  cert: string,
  key: string,
): { readonly part: 'cert' | 'key'; readonly message: string } | undefined {
  const certCode = catchErrorCode(() => createSecureContext({ cert }));
  if (certCode !== undefined)
    return { part: 'cert', message: expectedFound('a certificate (PEM)', `an invalid one (${certCode})`) };
  const rejectKey = (found: string) =>
    ({ part: 'key', message: expectedFound('the unencrypted key of the certificate', found) }) as const;
  const keyCode = catchErrorCode(() => createSecureContext({ key }));
  if (keyCode !== undefined) return rejectKey(`an invalid one (${keyCode})`);
  // A secure context takes a key of another type (RSA, EC) than the certificate, and serves no client.
  const isOwn = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  return isOwn ? undefined : rejectKey('the key of a different certificate');
}

function catchErrorCode(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return readErrorCode(error);
  }
}
