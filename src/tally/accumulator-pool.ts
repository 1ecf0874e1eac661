import { recordOf } from '../record-of.ts';
import { LabelSums } from './label-sums.ts';
import { LEDGER_COUNTERS, type LedgerCounter } from './ledger.ts';
import { LISTING_GAUGES, type ListingGauge } from './listing-tally.ts';

/** What a listing adds up to, family by family. */
export class Worksheet {
  readonly gauges: Readonly<Record<ListingGauge, LabelSums>> = recordOf(
    LISTING_GAUGES,
    () => new LabelSums(),
  );
  /** What the listing adds to the counters. */
  readonly gains: Readonly<Record<LedgerCounter, LabelSums>> = recordOf(
    LEDGER_COUNTERS,
    () => new LabelSums(),
  );

  clear(): void {
    for (const sums of Object.values(this.gauges)) sums.clear();
    for (const sums of Object.values(this.gains)) sums.clear();
  }
}

/** Sheets that are kept at most; more are used only while more listings are read at a time. */
const MAX_KEPT_SHEETS = 4;

/**
 * Worksheets to be used again, by all service codes: they have most label values in common. A sheet comes back only from
 * a listing that was committed. Whoever fills that of a listing that was given up fills one of which nothing is read.
 */
export class Worksheets {
  readonly #free: Worksheet[] = [];

  take(): Worksheet {
    return this.#free.pop() ?? new Worksheet();
  }

  giveBack(sheet: Worksheet): void {
    if (this.#free.length >= MAX_KEPT_SHEETS) return;
    sheet.clear();
    this.#free.push(sheet);
  }
}
