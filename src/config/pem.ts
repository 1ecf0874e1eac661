import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { expectedFound, formatValue, type Problem } from './config-error.ts';
import { readErrorCode, readText, type FileReference, type ReadFile } from './file-system.ts';

/** Reads a PEM file that contains an item of the given kind. */
export async function readPem(
  readFile: ReadFile,
  file: FileReference,
  kind: 'CERTIFICATE' | 'PRIVATE KEY',
): Promise<string | Problem> {
  const text = await readText(readFile, file);
  if (typeof text !== 'string') return text;
  if (new RegExp(`^-----BEGIN (?:[A-Z]+ )?${kind}-----`, 'm').test(text)) return text;
  return {
    location: file.locate(),
    message: expectedFound(`a PEM file with a ${kind}`, `${formatValue(file.path)}, which contains none`),
  };
}

/** OpenSSL's codes for a valid key of a different certificate. */
const KEY_MISMATCH_CODES: readonly string[] = [
  'ERR_OSSL_X509_KEY_VALUES_MISMATCH',
  'ERR_OSSL_X509_KEY_TYPE_MISMATCH',
];

/** Checks that TLS can use a certificate with its key (PEM). Messages have OpenSSL's codes; its texts could quote the key. */
export function findKeyPairMistake(
  cert: string,
  key: string,
): { readonly part: 'cert' | 'key'; readonly message: string } | undefined {
  const certCode = findTlsError({ cert });
  if (certCode !== undefined)
    return { part: 'cert', message: expectedFound('a certificate (PEM)', `an invalid one (${certCode})`) };
  const keyCode = findTlsError({ cert, key });
  if (keyCode === undefined) return undefined;
  const isOther = KEY_MISMATCH_CODES.includes(keyCode);
  const found = isOther ? 'the key of a different certificate' : `an invalid one (${keyCode})`;
  return { part: 'key', message: expectedFound('the unencrypted key of the certificate', found) };
}

function findTlsError(options: SecureContextOptions): string | undefined {
  try {
    createSecureContext(options);
    return undefined;
  } catch (error) {
    return readErrorCode(error);
  }
}
