import { isDeepStrictEqual } from 'node:util';
import type { ListingTarget } from '../upstream/client.ts';

/** A service code to poll. Times in milliseconds. */
export interface PolledCode {
  readonly target: ListingTarget;
  readonly intervalMs: number;
  readonly staleAfterMs: number;
  readonly stallAfterMs: number;
}

/** What becomes of each service code when other ones are to be polled. */
export interface CodeDifference {
  readonly added: readonly PolledCode[];
  /** Polled before and after, with other settings: the new ones. */
  readonly changed: readonly PolledCode[];
  readonly kept: readonly PolledCode[];
  readonly removed: readonly PolledCode[];
}

/** Compares the service codes that are polled with those that are to be, whatever the order of either. */
export function differenceOf(before: readonly PolledCode[], after: readonly PolledCode[]): CodeDifference {
  const old = new Map(before.map((code) => [code.target.serviceCode, code]));
  const wanted = new Set(after.map(({ target }) => target.serviceCode));
  const fates = { added: [] as PolledCode[], changed: [] as PolledCode[], kept: [] as PolledCode[] };
  for (const code of after) {
    const known = old.get(code.target.serviceCode);
    if (known === undefined) fates.added.push(code);
    else fates[isDeepStrictEqual(known, code) ? 'kept' : 'changed'].push(code);
  }
  return { ...fates, removed: before.filter(({ target }) => !wanted.has(target.serviceCode)) };
}
