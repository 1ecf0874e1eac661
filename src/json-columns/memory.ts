/** Views of an instance's memory. They end with its buffer when it grows: every call gets current ones. */
export class EngineMemory {
  readonly #memory: { readonly buffer: ArrayBuffer };
  #bytes: Buffer = Buffer.alloc(0);

  constructor(memory: { readonly buffer: ArrayBuffer }) {
    this.#memory = memory;
  }

  get bytes(): Buffer {
    // A buffer that was replaced has length 0.
    if (this.#bytes.length === 0) this.#bytes = Buffer.from(this.#memory.buffer);
    return this.#bytes;
  }

  readLatin1(address: number, length: number): string {
    return this.bytes.toString('latin1', address, address + length);
  }

  readUtf8(address: number, length: number): string {
    return this.bytes.toString('utf8', address, address + length);
  }

  /** Reads the text between the quotes of a JSON string. Invalid UTF-8 becomes U+FFFD. */
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
}
