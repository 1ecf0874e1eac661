import { isDeepStrictEqual } from 'node:util';
import type { Expectation } from '../tally/expectations.ts';
import type { ListingRequest } from './fetch-listing.ts';

export interface PolledCode extends ListingRequest {
  readonly intervalMs: number;
  readonly staleAfterMs: number;
  readonly stallAfterMs: number;
  readonly expectation?: Expectation | undefined;
}

export interface CodeDiff {
  readonly added: readonly PolledCode[];
  /** Polled before and after, with different settings: the new settings. */
  readonly changed: readonly PolledCode[];
  /** With the same settings, except for the expectation: their polls go on. */
  readonly kept: readonly PolledCode[];
  readonly expectationChanged: readonly PolledCode[];
  readonly removed: readonly PolledCode[];
}

export function diffCodes(before: readonly PolledCode[], after: readonly PolledCode[]): CodeDiff {
  const beforeByCode = new Map(before.map((code) => [code.serviceCode, code]));
  const added: PolledCode[] = [];
  const changed: PolledCode[] = [];
  const kept: PolledCode[] = [];
  const expectationChanged: PolledCode[] = [];
  for (const code of after) {
    const previous = beforeByCode.get(code.serviceCode);
    beforeByCode.delete(code.serviceCode);
    if (previous === undefined) added.push(code);
    else if (
      isDeepStrictEqual({ ...previous, expectation: undefined }, { ...code, expectation: undefined })
    ) {
      kept.push(code);
      if (!isDeepStrictEqual(previous.expectation, code.expectation)) expectationChanged.push(code);
    } else changed.push(code);
  }
  return { added, changed, kept, expectationChanged, removed: [...beforeByCode.values()] };
}
