/*
 * Bytes with a meaning in JSON (RFC 8259).
 */

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const BACKSLASH = 0x5c;
export const SPACE = 0x20;
export const MINUS = 0x2d;
export const ZERO = 0x30;
export const NINE = 0x39;
/** First byte of `null`. */
export const LETTER_N = 0x6e;
export const LETTER_U = 0x75;
