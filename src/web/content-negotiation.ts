import { parseChoices } from './accept.ts';
import type { Choice } from './accept.ts';
import type { ExpositionFormat } from './exposition.ts';

/** A format and the `Content-Type` that announces it. */
export interface NegotiatedFormat {
  readonly format: ExpositionFormat;
  readonly contentType: string;
}

interface Offer {
  readonly format: ExpositionFormat;
  readonly mediaType: string;
  readonly version: string;
}

/** What a choice says of an offer; of two, the one with the higher `specificity` counts. */
interface Claim {
  readonly offer: Offer;
  readonly choice: Choice;
  /** 3 for the media type with its version, 2 without, 1 for `type/*`, 0 for the range of everything. */
  readonly specificity: number;
  /** Where the choice stands in the header. */
  readonly position: number;
}

// The text comes first: of equals, an old scraper must get it.
const OFFERS: readonly Offer[] = [
  { format: 'text', mediaType: 'text/plain', version: '0.0.4' },
  { format: 'openmetrics', mediaType: 'application/openmetrics-text', version: '1.0.0' },
];

/** Schemes of Prometheus 3's `escaping` parameter. Every name here is legacy-valid, so none changes the body. */
const ESCAPING_SCHEMES: readonly string[] = ['allow-utf-8', 'underscores', 'dots', 'values'];

/**
 * The format that an `Accept` header asks for (RFC 9110, 12.5.1; OpenMetrics 1.0, "Protocol Negotiation").
 * The highest quality wins; of equals OpenMetrics where it is named, else the more specific range, else the
 * first. Without a header, with a malformed one, and where nothing is acceptable it is text 0.0.4.
 */
export function negotiateFormat(accept: string | undefined): NegotiatedFormat {
  const choices = accept === undefined ? [] : (parseChoices(accept) ?? []);
  const [winner] = OFFERS.flatMap((offer) => strongestClaim(offer, choices) ?? [])
    .filter(({ choice }) => choice.quality > 0)
    .toSorted(byPreference);
  if (winner === undefined)
    return { format: 'text', contentType: 'text/plain; version=0.0.4; charset=utf-8' };
  const { offer, choice } = winner;
  const escaping = choice.parameters.get('escaping')?.toLowerCase();
  const isKnown = escaping !== undefined && ESCAPING_SCHEMES.includes(escaping);
  const suffix = isKnown ? `; escaping=${escaping}` : '';
  const contentType = `${offer.mediaType}; version=${offer.version}; charset=utf-8${suffix}`;
  return { format: offer.format, contentType };
}

/** Whether an answer to this `Accept-Encoding` may be gzip, and the client does not like it plain better. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  const choices = acceptEncoding === undefined ? [] : (parseChoices(acceptEncoding) ?? []);
  const qualityOf = (...codings: string[]) => choices.find(({ value }) => codings.includes(value))?.quality;
  const gzip = qualityOf('gzip', 'x-gzip') ?? qualityOf('*') ?? 0;
  return gzip > 0 && gzip >= (qualityOf('identity') ?? 0);
}

/** The most specific range that matches an offer decides its quality; of several the most favourable. */
function strongestClaim(offer: Offer, choices: readonly Choice[]): Claim | undefined {
  const claims = choices.flatMap((choice, position): Claim[] => {
    const specificity = specificityOf(choice, offer);
    return specificity === undefined ? [] : [{ offer, choice, specificity, position }];
  });
  return claims.toSorted(
    (a, b) => b.specificity - a.specificity || b.choice.quality - a.choice.quality || a.position - b.position,
  )[0];
}

function specificityOf(choice: Choice, offer: Offer): number | undefined {
  const [type] = offer.mediaType.split('/');
  if (choice.value === '*/*') return 0;
  if (choice.value === `${type}/*`) return 1;
  if (choice.value !== offer.mediaType) return undefined;
  const version = choice.parameters.get('version');
  if (version === undefined) return 2;
  return version === offer.version ? 3 : undefined;
}

function byPreference(a: Claim, b: Claim): number {
  const isNamed = ({ offer, specificity }: Claim) =>
    Number(offer.format === 'openmetrics' && specificity >= 2);
  return (
    b.choice.quality - a.choice.quality ||
    isNamed(b) - isNamed(a) ||
    b.specificity - a.specificity ||
    a.position - b.position
  );
}
