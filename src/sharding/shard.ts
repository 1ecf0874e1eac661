/** One of the processes that share the service codes: `index` counts from 0. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** The shard of an exporter that polls all service codes itself. */
export const SINGLE_SHARD: Shard = { index: 0, count: 1 };

export const MAX_SHARDS = 1000;

/** Formats a shard for people: `shard 2 of 4`. */
export function formatShard({ index, count }: Shard): string {
  return `shard ${index} of ${count}`;
}

/** Parses the ordinal that a StatefulSet appends to a host name: 3 in `xvs-exporter-3` and `xvs-exporter-3.xvs.svc`. */
export function parseOrdinal(hostName: string): number | undefined {
  const [, ordinal] = /^[^.]*-(0|[1-9]\d*)(?:\.|$)/.exec(hostName) ?? [];
  return ordinal === undefined ? undefined : Number(ordinal);
}
