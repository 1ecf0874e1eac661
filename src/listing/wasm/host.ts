/* Functions of the host, for values that are rare or simpler to handle in JavaScript. */

/** Returns the value of a number token. */
export declare function parseNumber(token: usize, length: u32): f64;
/** Writes the text of a JSON string as UTF-16; returns the number of units. `decoding.ts` decodes ASCII itself. */
export declare function decodeText(text: usize, length: u32, to: usize): u32;
/** Returns the id of the label value for a key that is new to the label table; see `labels.ts`. */
export declare function nameLabel(key: usize, length: u32): u32;
/** Returns the key of the scheme of a URL with escapes: its number in the host's list of schemes. */
export declare function findProtocol(url: usize, length: u32): u32;
/** Whether a `service_code` with escapes or letters beyond ASCII is the polled one. */
export declare function isPolledCode(text: usize, length: u32): bool;
/** Takes the token of `ret`; returns whether it is an integer. */
export declare function takeRet(token: usize, length: u32): bool;
/** Takes the readings of tasks that have accumulated. */
export declare function takeReadings(): void;
