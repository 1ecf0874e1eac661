import type { PartReading } from './listing-sink.ts';

/** Inserting is faster than sorting up to this number. */
const MAX_INSERTED = 32;

/** Adds a part: the first ones in order. Call {@link sortParts} at the end. */
export function insertPart<Part extends PartReading>(parts: Part[], part: Part): void {
  let at = parts.length;
  parts.push(part);
  if (at >= MAX_INSERTED) return;
  for (; at > 0; at -= 1) {
    const other = parts[at - 1];
    if (other === undefined || compareParts(other, part) <= 0) return;
    parts[at] = other;
    parts[at - 1] = part;
  }
}

/** Sorts parts by identity, equal identities by bytes, the largest first. */
export function sortParts<Part extends PartReading>(parts: Part[]): Part[] {
  return parts.length > MAX_INSERTED ? parts.toSorted(compareParts) : parts;
}

function compareParts(a: PartReading, b: PartReading): number {
  return a.identity - b.identity || (b.bytes ?? -1) - (a.bytes ?? -1);
}

/**
 * Merges the parts of several entries of one task, of which each is sorted: equal identities are matched largest with largest,
 * and the larger value stands. A part is that of the first entry that has it.
 */
export function mergeParts<Part extends PartReading>(entries: readonly (readonly Part[])[]): Part[] {
  const merged = new Map<string, Part>();
  for (const parts of entries) {
    let occurrence = 0;
    for (const [index, part] of parts.entries()) {
      occurrence = parts[index - 1]?.identity === part.identity ? occurrence + 1 : 0;
      const key = `${part.identity} ${occurrence}`;
      const first = merged.get(key);
      merged.set(key, first === undefined ? part : { ...first, bytes: pickLarger(first.bytes, part.bytes) });
    }
  }
  return [...merged.values()].toSorted(compareParts);
}

/** The larger of two values, of which each may be missing. */
export function pickLarger(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}
