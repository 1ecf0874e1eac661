import type { KeyedLabels } from './label-values.ts';

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

function defineFamily<const Label extends string, const Sum extends string>(
  labels: readonly Label[],
  numbers: readonly Sum[],
  foldOrder: readonly NoInfer<Label>[] = labels,
): Family<Label, Sum> {
  return { labels, numbers, foldOrder };
}

export const FAMILIES = {
  users: defineFamily(['client_version', 'device_type'], ['onlineUsers']),
  userServers: defineFamily(['vs_id'], ['serverOnlineUsers']),
  servers: defineFamily(['vs_id'], ['tasks', 'tasksWithProgress', 'tasksMerging', 'transcodedPixels']),
  audience: defineFamily(['at_least'], ['tasksByHttpConnections']),
  inputs: defineFamily(['vs_id', 'protocol'], ['inputs']),
  inputClients: defineFamily(
    ['device_type', 'client_version'],
    ['inputClients'],
    ['client_version', 'device_type'],
  ),
  outputs: defineFamily(
    ['vs_id', 'format'],
    ['outputs', 'httpConnections', 'outputsUnwatched', 'httpOutputBytes'],
  ),
  renditions: defineFamily(
    ['video_codec', 'audio_codec', 'resolution'],
    ['outputRenditions', 'renditionHttpConnections', 'renditionHttpOutputBytes'],
    ['resolution', 'video_codec', 'audio_codec'],
  ),
  tags: defineFamily(['tag'], ['outputTags']),
  streams: defineFamily(['vs_id', 'codec_type', 'mode'], ['streams']),
  codecs: defineFamily(['codec_type', 'codec_id'], ['streamCodecs'], ['codec_id', 'codec_type']),
  bitRates: defineFamily(['codec_type', 'mode'], ['streamBitRate']),
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

/** The sums that the ledger adds to, since the listing before is needed. */
export const LEDGER_SUMS = [
  'httpOutputBytes',
  'renditionHttpOutputBytes',
] as const satisfies readonly ListingSum[];

/** The place of a number among those of its family, which its type alone knows. */
export type Place<F extends FamilyName = FamilyName> = number & { readonly family: F };

/** The family of a sum. */
type FamilyOf<Sum extends ListingSum> = {
  [F in FamilyName]: Sum extends SumOf<F> ? F : never;
}[FamilyName];

type Places<Sum extends ListingSum> = { readonly [S in Sum]: Place<FamilyOf<S>> };

// `Object.fromEntries` has no types for these keys.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const PLACES = Object.fromEntries(
  FAMILY_NAMES.flatMap((name) => FAMILIES[name].numbers.map((sum, place) => [sum, place] as const)),
) as Places<ListingSum>;

/** The place of each sum that the loops add to among the numbers of its family. */
export const LOOP_PLACES: Places<Exclude<ListingSum, (typeof LEDGER_SUMS)[number]>> = PLACES;

/** A label set of a family, without the service code, and its sum. */
export interface LabelSum extends KeyedLabels {
  readonly value: number;
}

/** The sums of one family of a listing: a row for each label set. Readings of the listing refer to rows. */
export class FamilySums<F extends FamilyName> {
  readonly labelSets: readonly KeyedLabels[];
  readonly #labels: readonly string[];
  readonly #width: number;
  readonly #sums: Float64Array;

  constructor(family: F, labelSets: readonly KeyedLabels[], sums: Float64Array) {
    this.labelSets = labelSets;
    this.#labels = FAMILIES[family].labels;
    this.#width = FAMILIES[family].numbers.length;
    this.#sums = sums;
  }

  /** Adds to a number of a row. */
  add(row: number, sum: SumOf<F>, amount: number): void {
    const at = row * this.#width + PLACES[sum];
    this.#sums[at] = (this.#sums[at] ?? 0) + amount;
  }

  getSum(row: number, sum: SumOf<F>): number {
    return this.#sums[row * this.#width + PLACES[sum]] ?? 0;
  }

  getLabel(row: number, label: LabelOf<F>): string {
    const value = this.labelSets[row]?.labels[this.#labels.indexOf(label)];
    if (value === undefined) throw new RangeError(`Expected the number of a row, found ${row}`);
    return value;
  }

  /** One number of all label sets. */
  *listSums(sum: SumOf<F>): Generator<LabelSum, void> {
    for (const [row, { key, labels }] of this.labelSets.entries())
      yield { key, labels, value: this.getSum(row, sum) };
  }

  /** The total of one number. */
  computeTotal(sum: SumOf<F>): number {
    return this.labelSets.reduce((total, _, row) => total + this.getSum(row, sum), 0);
  }
}

/** The sums of a listing by family. */
export type Sums = { readonly [F in FamilyName]: FamilySums<F> };

/** The values of one sum by label set. */
export function listSums(sums: Sums, sum: ListingSum): Iterable<LabelSum> {
  const family = findFamily(sum);
  // Each family has its own sums.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return family === undefined ? [] : (sums[family] as FamilySums<FamilyName>).listSums(sum);
}
