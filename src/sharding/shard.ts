/** One of the processes that share the service codes: `index` counts from 0. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** The shard of an exporter that polls all service codes itself. */
export const SINGLE_SHARD: Shard = { index: 0, count: 1 };

export const MAX_SHARDS = 1000;

export function formatShard({ index, count }: Shard): string {
  return `shard ${index} of ${count}`;
}

/** The ordinal that a StatefulSet appends to a host name: 3 in `xvs-exporter-3.xvs.svc`. */
export function parseOrdinal(hostName: string): number | undefined {
  const [, ordinal] = /^[^.]*-(0|[1-9]\d*)(?:\.|$)/.exec(hostName) ?? [];
  return ordinal === undefined ? undefined : Number(ordinal);
}

/**
 * Selects the shard that polls a service code, by rendezvous hashing: the one with the highest weight for it.
 * A new shard takes codes from all others, those of a removed one spread over all others; nothing else moves.
 * Never change it: during an update, two versions would poll some codes twice and others never. 32-bit
 * integers give the same result on every platform.
 */
export function selectShard(serviceCode: string, count: number): number {
  const hash = hashServiceCode(serviceCode);
  let owner = 0;
  let highest = -1;
  for (let index = 0; index < count; index += 1) {
    const weight = computeWeight(hash, index);
    // The first of equal weights wins, so that a new shard only takes codes for which its weight is higher.
    if (weight <= highest) continue;
    highest = weight;
    owner = index;
  }
  return owner;
}

/** Hashes the UTF-16 code units, lone surrogates included. */
function hashServiceCode(text: string): number {
  let hash = text.length;
  for (let at = 0; at < text.length; at += 1) hash = fmix32((Math.imul(hash, 31) + text.charCodeAt(at)) | 0);
  return hash;
}

/** The odd multiplier maps different indexes to different numbers. */
function computeWeight(hash: number, index: number): number {
  return fmix32(hash ^ Math.imul(index + 1, 0x9e3779b1));
}

/** The finalizer of MurmurHash3: maps 32-bit integers one to one onto unsigned 32-bit integers. */
function fmix32(value: number): number {
  const first = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return (second ^ (second >>> 16)) >>> 0;
}
