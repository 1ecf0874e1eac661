/* Bytes with a meaning in JSON (RFC 8259). */

export const QUOTE: u32 = 0x22;
export const PLUS: u32 = 0x2b;
export const COMMA: u32 = 0x2c;
export const MINUS: u32 = 0x2d;
export const POINT: u32 = 0x2e;
export const SLASH: u32 = 0x2f;
export const ZERO: u32 = 0x30;
export const COLON: u32 = 0x3a;
export const OPEN_BRACKET: u32 = 0x5b;
export const BACKSLASH: u32 = 0x5c;
export const CLOSE_BRACKET: u32 = 0x5d;
export const LETTER_B: u32 = 0x62;
export const LETTER_E: u32 = 0x65;
export const LETTER_F: u32 = 0x66;
export const LETTER_N: u32 = 0x6e;
export const LETTER_R: u32 = 0x72;
export const LETTER_T: u32 = 0x74;
export const LETTER_U: u32 = 0x75;
export const OPEN_BRACE: u32 = 0x7b;
export const CLOSE_BRACE: u32 = 0x7d;
export const SPACE: u32 = 0x20;
export const TAB: u32 = 0x09;
export const LINE_FEED: u32 = 0x0a;
export const CARRIAGE_RETURN: u32 = 0x0d;
/** Turns an ASCII letter into lower case. */
export const LOWER_CASE: u32 = 0x20;
