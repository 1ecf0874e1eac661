import fc from 'fast-check';

/**
 * Any code point except surrogates, as one character. Half of them are ASCII, including control characters.
 */
const character = fc
  .oneof(
    fc.nat(0x7f),
    fc.oneof(fc.integer({ min: 0x80, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff })),
  )
  .map((codePoint) => String.fromCodePoint(codePoint));

/**
 * Arbitrary well-formed text. The `binary` unit of fast-check takes a second to build a table of all code
 * points.
 */
export const arbitraryText = (maxLength?: number): fc.Arbitrary<string> =>
  fc.string({ unit: character, ...(maxLength !== undefined && { maxLength }) });
