/* Limits of one listing. The host sets them once; entries beyond them are counted and not kept. */

/** Label sets per family; each level of folded ones may use an eighth in addition. */
export let maxRows: u32 = 0;
/** Texts of label values. */
export let maxLabels: u32 = 0;
export let maxTasks: u32 = 0;
export let maxInputs: u32 = 0;
export let maxOutputs: u32 = 0;
export let maxStreams: u32 = 0;
/** Length of an element of `user_list` or `task_list`. */
export let maxEntryBytes: usize = 0;

export function setLimits(
  rows: u32,
  labels: u32,
  tasks: u32,
  inputs: u32,
  outputs: u32,
  streams: u32,
  entryBytes: usize,
): void {
  maxRows = rows;
  maxLabels = labels;
  maxTasks = tasks;
  maxInputs = inputs;
  maxOutputs = outputs;
  maxStreams = streams;
  maxEntryBytes = entryBytes;
}
