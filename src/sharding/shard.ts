/** One of the processes that share the service codes: `index` counts from 0. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** The only one there is: it polls everything. */
export const WHOLE: Shard = { index: 0, count: 1 };

/** The most that can be. */
export const MAX_SHARDS = 1000;

/** What people call it: `shard 2 of 4`. */
export function nameOf({ index, count }: Shard): string {
  return `shard ${index} of ${count}`;
}

/**
 * The ordinal at the end of a host name, as a StatefulSet names its pods: 3 of `xvs-exporter-3`, with its domain or
 * without.
 */
export function ordinalOf(hostName: string): number | undefined {
  const [, ordinal] = /^[^.]*-(0|[1-9]\d*)(?:\.|$)/.exec(hostName) ?? [];
  return ordinal === undefined ? undefined : Number(ordinal);
}
