import type { Instant } from '../tally/instant.ts';
import { parseStateEntry, type StateEntryOf } from '../tally/state-entry.ts';
import type { Tally } from '../tally/tally.ts';
import { parseJson, UnusableStateError } from './format.ts';
import { readLines } from './read-lines.ts';

/** Published totals of one service code. */
export type PublishedTotals = StateEntryOf<'totals'>;

/**
 * The saved state of a service code that has had no good listing since: it is configured and waits for one, or it is not
 * configured. Until its first good listing it is written back as it was read.
 */
export interface SavedCode {
  /** Lines of the snapshot; empty if the code is only in the journal. */
  readonly entries: Buffer;
  /** Number of good listings that the state includes. */
  readonly listings: number;
  /** Totals published after the entries were saved. */
  readonly totals: PublishedTotals | undefined;
  /** Since when the code has not been configured, in wall-clock milliseconds; `undefined` if it is configured. */
  readonly unconfiguredSinceMs: number | undefined;
}

export const EMPTY_SAVED_CODE: SavedCode = {
  entries: Buffer.alloc(0),
  listings: 0,
  totals: undefined,
  unconfiguredSinceMs: undefined,
};

/** Saves the current state of a tally; `undefined` before its first good listing. */
export function saveTally(tally: Tally): SavedCode | undefined {
  const lines = [...tally.exportState()].map((entry) => `${JSON.stringify(entry)}\n`);
  if (lines.length === 0) return undefined;
  const entries = Buffer.from(lines.join(''));
  return { ...EMPTY_SAVED_CODE, entries, listings: tally.listings };
}

/**
 * Restores a saved state into an empty tally.
 *
 * @throws UnusableStateError if a line is invalid or does not fit those before it
 */
export function restoreTally(tally: Tally, { entries, totals }: SavedCode, now: Instant): Tally {
  const restorer = tally.createRestorer(now);
  for (const { text } of readLines(entries)) {
    const entry = parseStateEntry(parseJson(text));
    if (entry === undefined || !restorer.apply(entry)) throw createEntryError(tally.serviceCode);
  }
  if (totals !== undefined && !restorer.apply(totals)) throw createEntryError(tally.serviceCode);
  return tally;
}

function createEntryError(serviceCode: string): UnusableStateError {
  const message = `Expected valid entries of service code ${JSON.stringify(serviceCode)}, found an invalid one`;
  return new UnusableStateError('damaged', message);
}

/** Adds a record of the journal to a saved state, if it is later. */
export function advanceSavedCode(saved: SavedCode, totals: PublishedTotals): SavedCode {
  const [, , , listings] = totals;
  if (listings <= saved.listings) return saved;
  return { ...saved, listings, totals: mergeTotals(saved.totals, totals) };
}

/** Merges totals of two listings of one service code; the later ones replace those of the same label set. */
function mergeTotals(earlier: PublishedTotals | undefined, later: PublishedTotals): PublishedTotals {
  if (earlier === undefined) return later;
  const [kind, serviceCode, wallMs, listings, series, counts, sum, details] = later;
  return [
    kind,
    serviceCode,
    wallMs,
    listings,
    mergeBy(earlier[4], series, ([counter, labels]) => JSON.stringify([counter, ...labels])),
    counts,
    sum,
    mergeBy(earlier[7], details, ([taskId]) => taskId),
  ];
}

function mergeBy<Item>(
  earlier: readonly Item[],
  later: readonly Item[],
  getKey: (item: Item) => string,
): Item[] {
  return [...new Map([...earlier, ...later].map((item) => [getKey(item), item])).values()];
}
