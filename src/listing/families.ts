import { recordOf } from '../runtime/record-of.ts';

/*
 * The families of sums over the records of a listing: each once, for the loops that add up, for the tally, and for folding.
 */

export interface Family<Label extends string = string, Sum extends string = string> {
  /** As in the catalogue, without the service code. */
  readonly labels: readonly Label[];
  /** The labels in the order in which folding gives them up: those with the most possible values first. */
  readonly foldOrder: readonly Label[];
  /** The sums of a label set: the keys of the catalogue's entries that they feed. */
  readonly numbers: readonly Sum[];
}

function family<const Label extends string, const Sum extends string>(
  labels: readonly Label[],
  numbers: readonly Sum[],
  foldOrder: readonly NoInfer<Label>[] = labels,
): Family<Label, Sum> {
  return { labels, numbers, foldOrder };
}

export const FAMILIES = {
  users: family(['client_version', 'device_type'], ['onlineUsers']),
  userServers: family(['vs_id'], ['serverOnlineUsers']),
  servers: family(['vs_id'], ['tasks', 'tasksWithProgress', 'tasksMerging', 'transcodedPixels']),
  audience: family(['at_least'], ['tasksByHttpConnections']),
  inputs: family(['vs_id', 'protocol'], ['inputs']),
  inputClients: family(
    ['device_type', 'client_version'],
    ['inputClients'],
    ['client_version', 'device_type'],
  ),
  outputs: family(['vs_id', 'format'], ['outputs', 'httpConnections', 'outputsUnwatched', 'httpOutputBytes']),
  renditions: family(
    ['video_codec', 'audio_codec', 'resolution'],
    ['outputRenditions', 'renditionHttpConnections', 'renditionHttpOutputBytes'],
    ['resolution', 'video_codec', 'audio_codec'],
  ),
  tags: family(['tag'], ['outputTags']),
  streams: family(['vs_id', 'codec_type', 'mode'], ['streams']),
  codecs: family(['codec_type', 'codec_id'], ['streamCodecs'], ['codec_id', 'codec_type']),
  bitRates: family(['codec_type', 'mode'], ['streamBitRate']),
} as const;

export type FamilyName = keyof typeof FAMILIES;
export type LabelOf<F extends FamilyName> = (typeof FAMILIES)[F]['labels'][number];
export type SumOf<F extends FamilyName> = (typeof FAMILIES)[F]['numbers'][number];

/** The keys of the catalogue's entries that listings feed. */
export type ListingSum = { [F in FamilyName]: SumOf<F> }[FamilyName];

// `Object.keys` is typed as string[].
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const FAMILY_NAMES = Object.keys(FAMILIES) as readonly FamilyName[];

/** The family of each sum. */
const FAMILY_BY_SUM = new Map<string, FamilyName>(
  FAMILY_NAMES.flatMap((name) => FAMILIES[name].numbers.map((sum) => [sum, name] as const)),
);

/** The family that holds a sum; `undefined` if listings do not feed it. */
export function findFamily(sum: string): FamilyName | undefined {
  return FAMILY_BY_SUM.get(sum);
}

export const LISTING_SUMS: readonly ListingSum[] = FAMILY_NAMES.flatMap(
  (name): readonly ListingSum[] => FAMILIES[name].numbers,
);

/** The place of each sum among the numbers of its family. */
type Numbers = { readonly [F in FamilyName]: Readonly<Record<SumOf<F>, number>> };

// `recordOf` and `Object.fromEntries` have no types for these keys.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const NUMBERS = recordOf(FAMILY_NAMES, (name) =>
  Object.fromEntries(FAMILIES[name].numbers.map((sum, index) => [sum, index])),
) as unknown as Numbers;
