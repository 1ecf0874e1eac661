import type { SigningScheme } from '../../src/upstream/signing.ts';

/** The signing scheme in the documentation of the service. */
export const PUBLISHED_SCHEME: SigningScheme = {
  algorithm: 'sha256',
  template: '{path}{query}{timestamp}',
  encoding: 'hex',
  timestampUnit: 'ms',
  signatureHeader: 'xvs-signature',
  timestampHeader: 'xvs-timestamp',
};
