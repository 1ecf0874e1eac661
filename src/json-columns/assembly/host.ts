/* Functions of the host, for values that are rare or simpler in JavaScript, and limits that it sets. */

/** Returns the value of a number token. */
export declare function parseNumber(token: usize, length: u32): f64;
/** Writes a JSON string as UTF-16; returns the number of units. `texts.ts` decodes ASCII itself. */
export declare function decodeText(text: usize, length: u32, to: usize): u32;
/** Returns the id of the label value for a key that is new to the label table; see `labels.ts`. */
export declare function nameLabel(key: usize, length: u32): u32;
/** Returns the id of the label value of a URL with escapes: its scheme. */
export declare function nameScheme(url: usize, length: u32): u32;
/** Whether a text with escapes or letters beyond ASCII is the one to compare with. */
export declare function isMatch(text: usize, length: u32): bool;
/** Takes the token of the member of the body that is no list; returns whether it is valid. */
export declare function takeScalar(token: usize, length: u32): bool;
/** Takes one of the first rejected elements of the lists of a body, with its number among all. */
export declare function noteRejected(type: usize, reason: u32, entry: u32): void;
/** Takes the rows of all complete elements. Texts of the window are valid during the call. */
export declare function takeBatch(): void;

/** Texts of label values, and those that one field of a body may add. */
export let maxLabels: u32 = 0;
export let maxFieldLabels: u32 = 0;
/** Length of an element of a list of the body. */
export let maxEntryBytes: usize = 0;
/** Rows of all record types together. */
export let maxRows: u32 = 0;

/** Sets the limits of a body. A list has its own limit, in its field. */
export function setLimits(labels: u32, fieldLabels: u32, entryBytes: usize, rows: u32): void {
  maxLabels = labels;
  maxFieldLabels = fieldLabels;
  maxEntryBytes = entryBytes;
  maxRows = rows;
}
