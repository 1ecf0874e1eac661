/** Limits of one listing, so that a hostile one costs what they say and not what its body says. */
export interface ReaderLimits {
  /** Label sets per family; a label set beyond it folds. */
  readonly maxLabelSets: number;
  /** Tasks with accounts. */
  readonly maxTasks: number;
  readonly maxInputsPerTask: number;
  readonly maxOutputsPerTask: number;
  readonly maxStreamsPerOutput: number;
  /** Length of an element of `user_list` or `task_list`. */
  readonly maxEntryBytes: number;
}

/** Ids of label values have 20 bits in the module, and the host has some of its own. */
const MAX_LABEL_VALUES = 2 ** 20 - 1024;
/** Label values per label set of a family: more than all families together can have. */
const VALUES_PER_LABEL_SET = 16;
/** Those of the task being read and those kept from earlier listings. */
const EXTRA_LABEL_VALUES = 16 * 1024;

/** Label sets that are told apart while reading, per label set that is exposed: the largest of them get a series. */
const LABEL_SETS_PER_EXPOSED_ONE = 5;
const MIN_LABEL_SETS = 1000;

/** Computes how many label sets of a family a listing may have before they fold while they are read. */
export function computeReaderLabelSets(exposedLabelSets: number): number {
  return Math.min(Math.max(LABEL_SETS_PER_EXPOSED_ONE * exposedLabelSets, MIN_LABEL_SETS), MAX_LABEL_VALUES);
}

/** Limits as the module takes them: whole numbers that fit 32 bits. */
export function listModuleLimits(limits: ReaderLimits): readonly number[] {
  const labelSets = Math.min(limits.maxLabelSets, MAX_LABEL_VALUES);
  return [
    labelSets,
    Math.min(labelSets * VALUES_PER_LABEL_SET + EXTRA_LABEL_VALUES, MAX_LABEL_VALUES),
    limits.maxTasks,
    limits.maxInputsPerTask,
    limits.maxOutputsPerTask,
    limits.maxStreamsPerOutput,
    limits.maxEntryBytes,
  ];
}

export const DEFAULT_READER_LIMITS: ReaderLimits = {
  maxLabelSets: 10_000,
  maxTasks: 200_000,
  maxInputsPerTask: 1000,
  maxOutputsPerTask: 1000,
  maxStreamsPerOutput: 1000,
  maxEntryBytes: 16 * 1024 * 1024,
};
