import { MAX_LISTING_ENTRY_BYTES, MAX_LISTING_PARTS, MAX_LISTING_ROWS } from '../runtime/limits.ts';

/** Limits of one listing: they, and not its body, decide what a hostile one costs. */
export interface ReaderLimits {
  /** Label sets per family; a label set beyond it folds. */
  readonly maxLabelSets: number;
  /** Tasks with accounts, their inputs and outputs included. */
  readonly maxAccounts: number;
  /** Users, tasks, inputs, outputs and streams together. */
  readonly maxRows: number;
  /** Inputs and outputs of one task, and streams of one output. */
  readonly maxParts: number;
  /** Length of an element of `user_list` or `task_list`. */
  readonly maxEntryBytes: number;
}

/** More label values would take more memory than the module may use. */
const MAX_LABEL_VALUES = 2 ** 20;
/** Label values per label set of a family: more than all families together can have. */
const VALUES_PER_LABEL_SET = 16;
/** Label values of the task that is being read, and those kept from earlier listings. */
const EXTRA_LABEL_VALUES = 16 * 1024;

/** To bound memory, the reader tells this many label sets apart for each one that can be exposed. */
const LABEL_SETS_PER_EXPOSED_ONE = 5;
const MIN_LABEL_SETS = 1000;

export function createReaderLimits(exposedLabelSets: number, maxAccounts: number): ReaderLimits {
  const maxLabelSets = Math.max(LABEL_SETS_PER_EXPOSED_ONE * exposedLabelSets, MIN_LABEL_SETS);
  return {
    maxLabelSets: Math.min(maxLabelSets, MAX_LABEL_VALUES),
    maxAccounts,
    maxRows: MAX_LISTING_ROWS,
    maxParts: MAX_LISTING_PARTS,
    maxEntryBytes: MAX_LISTING_ENTRY_BYTES,
  };
}

/** Label values that the engine keeps, and those that a field of one listing may add. */
export function computeLabelLimits({ maxLabelSets }: ReaderLimits) {
  const maxLabels = Math.min(maxLabelSets * VALUES_PER_LABEL_SET + EXTRA_LABEL_VALUES, MAX_LABEL_VALUES);
  return { maxLabels, maxFieldLabels: 2 * maxLabelSets };
}
