import type { OutputRecord } from '../listing/records.ts';

/**
 * What identifies an output within its task: format, file name and tag, as a number of 53 bits made of them. File
 * names are as many as outputs: kept as texts they would be most of the ledger's memory.
 *
 * State files hold it: another hash is another version of theirs.
 *
 * Two outputs that share a number by chance (one in 10¹⁵) are taken for one with their sum, as outputs that are
 * alike: their bytes still count.
 */
export function outputIdentity({ format, fileName, tag }: OutputRecord): number {
  const hash = new TextHash();
  for (const text of [format, fileName, tag]) hash.add(text ?? '');
  return hash.value;
}

/** A hash over texts: two of 32 bits with different factors, mixed. */
class TextHash {
  #low = 0;
  #high = 0x41c6ce57;

  add(text: string): void {
    for (let index = 0; index < text.length; index += 1) this.#addUnit(text.charCodeAt(index));
    // A unit that no text has: where one text ends counts.
    this.#addUnit(0x10000);
  }

  get value(): number {
    const low =
      Math.imul(this.#low ^ (this.#low >>> 16), 0x85ebca6b) ^
      Math.imul(this.#high ^ (this.#high >>> 13), 0xc2b2ae35);
    const high =
      Math.imul(this.#high ^ (this.#high >>> 16), 0x85ebca6b) ^
      Math.imul(this.#low ^ (this.#low >>> 13), 0xc2b2ae35);
    return (high >>> 11) * 2 ** 32 + (low >>> 0);
  }

  #addUnit(unit: number): void {
    this.#low = Math.imul(this.#low ^ unit, 0x9e3779b1);
    this.#high = Math.imul(this.#high ^ unit, 0x5f356495);
  }
}
