import { X509Certificate } from 'node:crypto';

const CERTIFICATE_START = /^-----BEGIN (?:[A-Z0-9]+ )?CERTIFICATE-----/;

/**
 * Splits a PEM file (RFC 7468) into its certificates, each with the text after it. Takes time in proportion
 * to the text, whatever it is: an expression from BEGIN to END would take seconds for a megabyte without END.
 */
export function splitCertificates(text: string): readonly string[] {
  return text.split(/^(?=-----BEGIN )/m).filter((block) => CERTIFICATE_START.test(block));
}

/** When the first of some certificates (PEM) expires, in milliseconds since the Unix epoch. */
export function findFirstEndMs(text: string): number {
  return splitCertificates(text)
    .map((pem) => Date.parse(new X509Certificate(pem).validTo))
    .reduce((one, other) => Math.min(one, other));
}
