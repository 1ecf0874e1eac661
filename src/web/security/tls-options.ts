import { constants, X509Certificate } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';
import { ConfigError, throwIfAny } from '../../config/config-error.ts';
import { resolvePath, type ReadFile } from '../../config/file-system.ts';
import { findKeyPairMistake, readPem } from '../../config/pem.ts';
import type { Locate } from '../../config/validation.ts';
import { findFirstEndMs, splitCertificates } from '../../runtime/certificates.ts';
import { KEY_EXCHANGE } from '../../runtime/key-exchange.ts';

export interface ClientAuth {
  readonly isRequested: boolean;
  readonly isRequired: boolean;
  /** Whether a certificate must be signed by the client CA. */
  readonly isVerified: boolean;
}

/** `tls_server_config` with TLS turned on; paths as they are in the file. */
export interface TlsSection {
  readonly cert_file: string;
  readonly key_file: string;
  readonly client_ca_file?: string | undefined;
  readonly client_auth_type: ClientAuth;
  readonly min_version: 'TLSv1.2' | 'TLSv1.3';
}

/** Options of a TLS server, with certificates that have been read and validated. */
export interface TlsServerOptions {
  readonly clientAuth: ClientAuth;
  readonly secureContext: SecureContextOptions & { readonly cert: string };
  /** The soonest end of the certificates that the server sends, in milliseconds since the Unix epoch. */
  readonly notAfterMs: number;
}

/** Reads and validates the certificates of a section, relative to `folder`. A ConfigError shows no key. */
export async function readTlsServerOptions(
  section: TlsSection,
  locate: Locate,
  folder: string,
  readFile: ReadFile,
): Promise<TlsServerOptions> {
  const locateKey = (name: string): string => locate(['tls_server_config', name]);
  const readPart = (
    name: 'cert_file' | 'key_file' | 'client_ca_file',
    kind: 'CERTIFICATE' | 'PRIVATE KEY',
  ) => {
    const path = section[name];
    if (path === undefined) return '';
    return readPem(readFile, { path: resolvePath(folder, path), locate: () => locateKey(name) }, kind);
  };
  const parts = await Promise.all([
    readPart('cert_file', 'CERTIFICATE'),
    readPart('key_file', 'PRIVATE KEY'),
    readPart('client_ca_file', 'CERTIFICATE'),
  ]);
  throwIfAny(parts.filter((part) => typeof part !== 'string'));
  const [cert = '', key = '', ca = ''] = parts.map(String);
  const mistake = findKeyPairMistake(cert, key);
  if (mistake !== undefined)
    throw new ConfigError([{ location: locateKey(`${mistake.part}_file`), message: mistake.message }]);
  const { client_auth_type: clientAuth, min_version: minVersion } = section;
  return {
    clientAuth,
    secureContext: {
      // Here, because a reload forgets what is not in the context.
      ...KEY_EXCHANGE,
      cert,
      key,
      ...(ca !== '' && { ca: splitCertificates(ca).map(formatTrustAnchor) }),
      minVersion,
      // A session would outlive the client certificate. Node.js keeps sessions in tickets only.
      ...(clientAuth.isRequired && { secureOptions: constants.SSL_OP_NO_TICKET }),
    },
    notAfterMs: findFirstEndMs(cert),
  };
}

/** Trust as an issuer of client certificates (X509_CERT_AUX of OpenSSL, with the usage clientAuth). */
const CLIENT_AUTH_TRUST = Buffer.from('300c300a06082b06010505070302', 'hex');

/** Lets OpenSSL trust intermediate certificates: servers of Node.js ignore `allowPartialTrustChain`. */
function formatTrustAnchor(pem: string): string {
  const { raw } = new X509Certificate(pem);
  const base64 = Buffer.concat([raw, CLIENT_AUTH_TRUST]).toString('base64');
  const lines = base64.match(/.{1,64}/g) ?? [];
  return ['-----BEGIN TRUSTED CERTIFICATE-----', ...lines, '-----END TRUSTED CERTIFICATE-----', ''].join(
    '\n',
  );
}
