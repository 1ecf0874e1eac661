import type { CodeState } from '../../poller/store.ts';
import { LEDGER_COUNTERS, TASK_COUNTERS } from '../../tally/family-keys.ts';
import type { Snapshot } from '../../tally/snapshot.ts';
import type { PlainSample, Samples } from '../catalogue/family.ts';
import { SampleColumns, type LabelSet } from '../catalogue/sample-columns.ts';

/** A service code of which a scrape exposes counters. */
export interface ExposedCode {
  /** Its history stands for the code: it comes and goes with it. */
  readonly state: Pick<CodeState, 'history' | 'snapshot' | 'restoredCounters'>;
  /** Whether the families of the last listing are hidden, those of tasks included. */
  readonly isStale: boolean;
  /** A reason stays, and new ones come last. */
  readonly skippedPolls: readonly PlainSample[];
}

const COUNTERS = [...LEDGER_COUNTERS, ...TASK_COUNTERS] as const;

/** In the order of `COUNTERS`. */
type LabelSetsByFamily = readonly (readonly LabelSet[] | undefined)[];

/** What scrapes have had of a service code. */
interface Answered {
  /** When the latest of their listings was taken, in monotonic milliseconds. */
  readonly atMs: number;
  /** Those of that listing. */
  readonly labelSets: LabelSetsByFamily;
  /** Number of reasons of skipped polls. */
  readonly skipReasons: number;
}

/** The samples that a scrape gets, by those with totals. */
type Replacements = ReadonlyMap<Samples, Samples>;

/**
 * Prometheus cannot see the increment with which a series appears. So a new label set of a counter is exposed
 * at 0 until a scrape has been answered with that, and has its total from the next listing on. One of an
 * earlier process is not new.
 */
export class Births {
  readonly #answered = new WeakMap<CodeState['history'], Answered>();
  /** All scrapes of a listing get the same. */
  readonly #newborn = new WeakMap<Snapshot, Replacements>();

  /** Finds the samples of which some are new, and puts 0 in the place of their totals. */
  findNewborn(codes: readonly ExposedCode[]): Replacements {
    const newborn = new Map<Samples, Samples>();
    for (const { state, skippedPolls } of codes) {
      const { skipReasons } = this.#getAnswered(state);
      if (skippedPolls.length > skipReasons)
        newborn.set(
          skippedPolls,
          skippedPolls.map((sample, index) => (index < skipReasons ? sample : { ...sample, value: 0 })),
        );
      for (const [totals, exposed] of this.#findNewCounters(state)) newborn.set(totals, exposed);
    }
    return newborn;
  }

  /** Records that a scrape has been answered with these service codes. */
  recordAnswer(codes: readonly ExposedCode[]): void {
    for (const { state, isStale, skippedPolls } of codes) {
      const { history, snapshot } = state;
      const before = this.#getAnswered(state);
      const isLater = snapshot !== undefined && snapshot.at.monotonicMs > before.atMs;
      this.#answered.set(history, {
        atMs: isLater ? snapshot.at.monotonicMs : before.atMs,
        labelSets: isLater ? listAnswered(snapshot, isStale, before) : before.labelSets,
        skipReasons: Math.max(before.skipReasons, skippedPolls.length),
      });
    }
  }

  #getAnswered({ history, restoredCounters }: ExposedCode['state']): Answered {
    const answered = this.#answered.get(history);
    if (answered !== undefined) return answered;
    const labelSets = COUNTERS.map((counter) => restoredCounters?.[counter]?.labelSets);
    return { atMs: Number.NEGATIVE_INFINITY, labelSets, skipReasons: 0 };
  }

  #findNewCounters(state: ExposedCode['state']): Replacements {
    const { snapshot } = state;
    if (snapshot === undefined) return new Map();
    const found = this.#newborn.get(snapshot);
    if (found !== undefined) return found;
    const { labelSets } = this.#getAnswered(state);
    const newborn = new Map<Samples, Samples>();
    for (const [index, counter] of COUNTERS.entries()) {
      const samples = snapshot.counters[counter];
      const answered = labelSets[index] ?? [];
      if (samples !== undefined && samples.labelSets !== answered)
        newborn.set(samples, hideNew(samples, answered));
    }
    this.#newborn.set(snapshot, newborn);
    return newborn;
  }
}

/** The label sets of a listing with which a scrape has been answered; those that it hid are as before. */
function listAnswered({ counters }: Snapshot, isStale: boolean, before: Answered): LabelSetsByFamily {
  return COUNTERS.map((counter, index) =>
    isStale && index >= LEDGER_COUNTERS.length ? before.labelSets[index] : counters[counter]?.labelSets,
  );
}

function hideNew(
  { serviceCode, labelSets, values }: SampleColumns,
  answered: readonly LabelSet[],
): SampleColumns {
  const known = new Set(answered.map(toKey));
  const exposed = values.map((total, index) => (known.has(toKey(labelSets[index] ?? [])) ? total : 0));
  return new SampleColumns(serviceCode, labelSets, exposed);
}

/** Label values hold no control characters. */
function toKey(labels: LabelSet): string {
  return labels.join('\0');
}
