import type { SigningScheme } from '../../src/upstream/signing.ts';

/** The scheme of the public service, as its documentation gives it. */
export const PUBLISHED_SCHEME: SigningScheme = {
  algorithm: 'sha256',
  template: '{path}{query}{timestamp}',
  encoding: 'hex',
  timestampUnit: 'ms',
  signatureHeader: 'xvs-signature',
  timestampHeader: 'xvs-timestamp',
};
