import {
  countersOf,
  LABEL_GROUP_NAMES,
  labelGroup,
  type LabelGroupName,
} from '../../listing/label-groups.ts';
import type { LabelSet } from '../../listing/label-values.ts';
import type { Rows } from '../../listing/rows.ts';
import type { CodeState } from '../../poller/store.ts';
import type { Snapshot } from '../../tally/snapshot.ts';
import type { Column, Family } from '../catalogue/family.ts';

export interface ExposedCode {
  /** Its history stands for the code: it comes and goes with it. */
  readonly state: Pick<CodeState, 'history' | 'snapshot' | 'restored'>;
  /** Whether the families of the last listing are hidden, those of tasks included. */
  readonly isStale: boolean;
  /** By reason. A reason stays, and new ones come last. */
  readonly skippedPolls: Column;
}

const COUNTER_GROUPS = LABEL_GROUP_NAMES.filter((group) => countersOf(group).length > 0);

/** In the order of `COUNTER_GROUPS`. */
type LabelSetsByGroup = readonly (readonly LabelSet[] | undefined)[];

interface Answered {
  /** When the latest of their listings was taken, in monotonic milliseconds. */
  readonly atMs: number;
  readonly labelSets: LabelSetsByGroup;
  readonly skipReasons: number;
}

/** The columns that a scrape gets, by the numbers of those with totals. */
type Replacements = ReadonlyMap<readonly number[], Column>;

/** What a scrape exposes. */
export interface CollectedFamilies {
  /** Read once. */
  readonly families: Iterable<Family>;
  /** The service codes of which the families hold the counters. */
  readonly codes: readonly ExposedCode[];
}

/**
 * Prometheus cannot see the increment with which a series appears. So a new label set of a counter is exposed
 * at 0 until a scrape has been answered with that, and has its total from the next listing on. One of an
 * earlier process is not new.
 */
export class Births {
  readonly #answered = new WeakMap<CodeState['history'], Answered>();
  /** All scrapes of a listing get the same. */
  readonly #newborn = new WeakMap<Snapshot, Replacements>();

  /** The families as a scrape gets them. */
  expose({ families, codes }: CollectedFamilies): Iterable<Family> {
    const newborn = this.#findNewborn(codes);
    return newborn.size === 0 ? families : replaceSamples(families, newborn);
  }

  /** Finds the samples of which some are new, and puts 0 in the place of their totals. */
  #findNewborn(codes: readonly ExposedCode[]): Replacements {
    const newborn = new Map<readonly number[], Column>();
    for (const { state, skippedPolls } of codes) {
      const { skipReasons } = this.#getAnswered(state);
      const { labelSets, numbers } = skippedPolls;
      if (numbers.length > skipReasons)
        newborn.set(numbers, {
          labelSets,
          numbers: numbers.map((total, row) => (row < skipReasons ? total : 0)),
        });
      for (const [totals, exposed] of this.#findNewCounters(state)) newborn.set(totals, exposed);
    }
    return newborn;
  }

  /** Records that a scrape has been answered with the families of these codes. */
  recordAnswer(codes: readonly ExposedCode[]): void {
    for (const { state, isStale, skippedPolls } of codes) {
      const { history, snapshot } = state;
      const before = this.#getAnswered(state);
      const isLater = snapshot !== undefined && snapshot.at.monotonicMs > before.atMs;
      this.#answered.set(history, {
        atMs: isLater ? snapshot.at.monotonicMs : before.atMs,
        labelSets: isLater ? listAnswered(snapshot, isStale, before) : before.labelSets,
        skipReasons: Math.max(before.skipReasons, skippedPolls.numbers.length),
      });
    }
  }

  #getAnswered({ history, restored }: ExposedCode['state']): Answered {
    const answered = this.#answered.get(history);
    if (answered !== undefined) return answered;
    const rows: RowsByGroup | undefined = restored?.rows;
    const labelSets = COUNTER_GROUPS.map((group) => rows?.[group]?.labelSets);
    return { atMs: Number.NEGATIVE_INFINITY, labelSets, skipReasons: 0 };
  }

  #findNewCounters(state: ExposedCode['state']): Replacements {
    const { snapshot } = state;
    if (snapshot === undefined) return new Map();
    const found = this.#newborn.get(snapshot);
    if (found !== undefined) return found;
    const { labelSets } = this.#getAnswered(state);
    const newborn = new Map<readonly number[], Column>();
    for (const [index, group] of COUNTER_GROUPS.entries()) {
      const rows: Rows | undefined = snapshot.rows[group];
      const answered = labelSets[index] ?? [];
      if (rows === undefined || rows.labelSets === answered) continue;
      const known = new Set(answered);
      const isKnown = rows.labelSets.map((labels) => known.has(labels));
      for (const counter of countersOf(group)) {
        const totals = rows.columns[counter] ?? [];
        const numbers = totals.map((total, row) =>
          isKnown[row] === true || Number.isNaN(total) ? total : 0,
        );
        newborn.set(totals, { labelSets: rows.labelSets, numbers });
      }
    }
    this.#newborn.set(snapshot, newborn);
    return newborn;
  }
}

function* replaceSamples(families: Iterable<Family>, newborn: Replacements): Generator<Family, void> {
  for (const family of families) {
    const { samples } = family;
    const exposed = 'labelSets' in samples ? newborn.get(samples.numbers) : undefined;
    yield exposed === undefined ? family : { ...family, samples: exposed };
  }
}

type RowsByGroup = Readonly<Partial<Record<LabelGroupName, Rows>>>;

/** The label sets of a listing with which a scrape has been answered; those that it hid are as before. */
function listAnswered(snapshot: Snapshot, isStale: boolean, before: Answered): LabelSetsByGroup {
  const rows: RowsByGroup = snapshot.rows;
  return COUNTER_GROUPS.map((group, index) =>
    isStale && labelGroup(group).of === 'single_task' ? before.labelSets[index] : rows[group]?.labelSets,
  );
}
