/* Limits of one body, which the host sets once. A list has its own limit, in its field. */

/** Texts of label values. */
export let maxLabels: u32 = 0;
/** Length of an element of a list of the body. */
export let maxEntryBytes: usize = 0;
/** Rows of all record types together. */
export let maxRows: u32 = 0;

export function setLimits(labels: u32, entryBytes: usize, rows: u32): void {
  maxLabels = labels;
  maxEntryBytes = entryBytes;
  maxRows = rows;
}
