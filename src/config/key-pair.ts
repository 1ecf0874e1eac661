import { createSecureContext } from 'node:tls';
import { expectedFound } from './config-error.ts';
import { readErrorCode } from './files.ts';

/** OpenSSL's codes for a valid key of a different certificate. */
const KEY_MISMATCH_CODES: readonly string[] = [
  'ERR_OSSL_X509_KEY_VALUES_MISMATCH',
  'ERR_OSSL_X509_KEY_TYPE_MISMATCH',
];

/** The error of a certificate or its key. */
interface KeyPairMistake {
  readonly part: 'cert' | 'key';
  readonly message: string;
}

/** Checks that TLS can use a certificate with its key (PEM). Messages have OpenSSL's codes; its texts could quote the key. */
export function findKeyPairMistake(cert: string, key: string): KeyPairMistake | undefined {
  try {
    createSecureContext({ cert });
  } catch (error) {
    const found = `an invalid one (${readErrorCode(error)})`;
    return { part: 'cert', message: expectedFound('a certificate (PEM)', found) };
  }
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const code = readErrorCode(error);
    const found = KEY_MISMATCH_CODES.includes(code)
      ? 'the key of a different certificate'
      : `an invalid one (${code})`;
    return { part: 'key', message: expectedFound('the unencrypted key of the certificate', found) };
  }
  return undefined;
}
