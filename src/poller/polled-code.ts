import { isDeepStrictEqual } from 'node:util';
import type { StaticLabels } from '../families/family.ts';
import type { Expectation } from '../tally/expectations.ts';
import type { ListingRequest } from './fetch-listing.ts';

export interface PolledCode extends ListingRequest {
  readonly intervalMs: number;
  readonly staleAfterMs: number;
  readonly stallAfterMs: number;
  readonly expectation?: Expectation | undefined;
  /** Labels of every series of the code, sorted by name. */
  readonly labels?: StaticLabels;
}

export interface CodeDiff {
  readonly added: readonly PolledCode[];
  /** Polled before and after, with different settings: the new settings. */
  readonly changed: readonly PolledCode[];
  /** With the same settings, except for the expectation and the labels: their polls go on. */
  readonly kept: readonly PolledCode[];
  readonly expectationChanged: readonly PolledCode[];
  /** Polled before and after, with different labels. */
  readonly relabelled: readonly PolledCode[];
  readonly removed: readonly PolledCode[];
}

export function diffCodes(before: readonly PolledCode[], after: readonly PolledCode[]): CodeDiff {
  const beforeByCode = new Map(before.map((code) => [code.serviceCode, code]));
  const added: PolledCode[] = [];
  const changed: PolledCode[] = [];
  const kept: PolledCode[] = [];
  const expectationChanged: PolledCode[] = [];
  const relabelled: PolledCode[] = [];
  for (const code of after) {
    const previous = beforeByCode.get(code.serviceCode);
    beforeByCode.delete(code.serviceCode);
    if (previous === undefined) {
      added.push(code);
      continue;
    }
    if (!isDeepStrictEqual(previous.labels, code.labels)) relabelled.push(code);
    const { expectation, labels } = code;
    if (isDeepStrictEqual({ ...previous, expectation, labels }, { ...code, expectation, labels })) {
      kept.push(code);
      if (!isDeepStrictEqual(previous.expectation, expectation)) expectationChanged.push(code);
    } else changed.push(code);
  }
  return { added, changed, kept, expectationChanged, relabelled, removed: [...beforeByCode.values()] };
}
