/** Views of an instance's memory. They end with the memory's buffer when it grows, so every call gets the current ones. */
export class EngineMemory {
  readonly #memory: { readonly buffer: ArrayBuffer };
  #bytes: Buffer = Buffer.alloc(0);
  #words: Uint32Array = new Uint32Array();

  constructor(memory: { readonly buffer: ArrayBuffer }) {
    this.#memory = memory;
  }

  get bytes(): Buffer {
    this.#refresh();
    return this.#bytes;
  }

  readWord(address: number): number {
    this.#refresh();
    return this.#words[address >>> 2] ?? 0;
  }

  /** Reads a double at any address. */
  readDouble(address: number): number {
    return this.bytes.readDoubleLE(address);
  }

  readLatin1(address: number, length: number): string {
    return this.bytes.toString('latin1', address, address + length);
  }

  readUtf8(address: number, length: number): string {
    return this.bytes.toString('utf8', address, address + length);
  }

  /** Reads the text between the quotes of a JSON string. Invalid UTF-8 becomes U+FFFD, as in `TextDecoder`. */
  readText(address: number, length: number): string {
    const text = this.readUtf8(address, length);
    if (!text.includes('\\')) return text;
    const value: unknown = JSON.parse(`"${text}"`);
    return String(value);
  }

  /** Writes a text as UTF-16; returns the number of units. */
  writeUtf16(text: string, address: number): number {
    return this.bytes.write(text, address, 2 * text.length, 'utf16le') / 2;
  }

  #refresh(): void {
    // A buffer that was replaced has length 0.
    if (this.#words.length > 0) return;
    const { buffer } = this.#memory;
    this.#bytes = Buffer.from(buffer);
    this.#words = new Uint32Array(buffer);
  }
}
