import type { SigningScheme } from '../upstream/signing.ts';

/** Orders of the signed parts that clients of such services use. */
const TEMPLATES = [
  '{path}{query}{timestamp}',
  '{path}?{query}{timestamp}',
  '{timestamp}{path}{query}',
  '{timestamp}{path}?{query}',
  '{path}{timestamp}',
  '{query}{timestamp}',
] as const;

const VARIED_SETTINGS = [
  ['algorithm', 'signing.algorithm'],
  ['template', 'signing.template'],
  ['encoding', 'signing.encoding'],
  ['timestampUnit', 'signing.timestamp_unit'],
] as const;

/** The plausible variations of a rejected scheme, each a request; the headers stay. */
function listVariations(rejected: SigningScheme): readonly SigningScheme[] {
  const units = ['ms', 's'] as const;
  const hashes = ['sha256', 'sha1', 'sha512', 'md5'] as const;
  const encodings = ['hex', 'base64'] as const;
  const variations = [
    ...TEMPLATES.flatMap((template) =>
      units.map((timestampUnit) => ({ ...rejected, template, timestampUnit })),
    ),
    ...hashes.flatMap((algorithm) => encodings.map((encoding) => ({ ...rejected, algorithm, encoding }))),
  ];
  return variations.filter((scheme) => listChanges(rejected, scheme).length > 0);
}

function listChanges(rejected: SigningScheme, scheme: SigningScheme): readonly string[] {
  return VARIED_SETTINGS.flatMap(([key, setting]) =>
    scheme[key] === rejected[key] ? [] : [`${setting}: '${scheme[key]}'`],
  );
}

/** Tries the variations of a rejected scheme in turn, and describes the first accepted one. */
export async function trySigning(
  rejected: SigningScheme,
  isAccepted: (scheme: SigningScheme) => Promise<boolean>,
): Promise<string> {
  const variations = listVariations(rejected);
  for (const scheme of variations)
    if (await isAccepted(scheme)) return `accepted with ${listChanges(rejected, scheme).join(', ')}`;
  return `none of ${variations.length} variations was accepted; check the secret and the service code first`;
}
