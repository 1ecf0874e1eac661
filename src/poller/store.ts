import {
  columnByLabel,
  columnOf,
  countSeries,
  type Column,
  type Family,
  type FamilySpec,
  type Samples,
  type StaticLabels,
} from '../families/family.ts';
import {
  familiesOf,
  LABEL_GROUP_NAMES,
  labelGroup,
  type LabelGroupName,
  type TableFamilyKey,
} from '../listing/label-groups.ts';
import type { Rows } from '../listing/rows.ts';
import { getWallOffsetMs, type Instant } from '../runtime/instant.ts';
import {
  countExpectedTasks,
  listExpectedTasks,
  type ExpectedMinima,
  type ExpectedTask,
  type Expectation,
} from '../tally/expectations.ts';
import type { Snapshot } from '../tally/snapshot.ts';
import type { PollErrorReason } from '../upstream/errors.ts';
import { POLL_FAMILIES, STATE_FAMILIES } from './catalogue.ts';
import { POLL_SAMPLES, type PollState } from './poll-metrics.ts';

/** Why the last poll failed. Neither text has a secret, a signature or a text of the response. */
export interface PollFailure {
  readonly reason: PollErrorReason;
  readonly message: string;
  readonly remedies: readonly string[];
  /** When the first of the failed polls in a row ended; monotonic. */
  readonly sinceMs: number;
  /** End of the pause that the service asked for; monotonic. */
  readonly pausedUntilMs: number | undefined;
}

/** State of a service code after its last poll. Each poll makes a new one; only the history is mutable. */
export interface CodeState extends PollState {
  readonly serviceCode: string;
  readonly ret?: number | undefined;
  /** Why the last poll failed; `undefined` if it succeeded, and before the first one. */
  readonly failure?: PollFailure | undefined;
  /**
   * The last good listing. Without one, restored counters are not exposed: where the state is older than the
   * last scrape (a power failure, a backup), Prometheus would take the step back for a reset and add the
   * whole.
   */
  readonly snapshot?: Snapshot | undefined;
  /** Age of the last good listing above which its gauges are no longer exposed. */
  readonly staleAfterMs: number;
  readonly expectation?: Expectation | undefined;
  /** Of every series of the code. */
  readonly labels: StaticLabels;
}

/** Whether the last good listing is too old to be exposed; `nowMs` is monotonic. */
export function isStale({ snapshot, staleAfterMs }: CodeState, nowMs: number): boolean {
  return snapshot !== undefined && nowMs - snapshot.at.monotonicMs > staleAfterMs;
}

/** The latest state of every service code: written by polls, read by scrapes. */
export class Store {
  readonly #states = new Map<string, CodeState>();
  /** Series of a state, with and without what is hidden when its listing is stale. */
  readonly #seriesCounts = {
    current: new WeakMap<CodeState, number>(),
    stale: new WeakMap<CodeState, number>(),
  };

  publish(state: CodeState): void {
    this.#states.set(state.serviceCode, state);
  }

  remove(serviceCode: string): void {
    this.#states.delete(serviceCode);
  }

  get(serviceCode: string): CodeState | undefined {
    return this.#states.get(serviceCode);
  }

  get states(): readonly CodeState[] {
    return [...this.#states.values()];
  }

  /** Counts the series of all states, each state once. */
  countSeries(now: Instant): number {
    let sum = 0;
    for (const state of this.#states.values()) {
      const known = this.#seriesCounts[isStale(state, now.monotonicMs) ? 'stale' : 'current'];
      let count = known.get(state);
      if (count === undefined) {
        count = 0;
        for (const family of this.collectFamilies(now, [state])) count += countSeries(family);
        known.set(state, count);
      }
      sum += count;
    }
    return sum;
  }

  /**
   * Collects the families of all or of the given states, in the order of the catalogue: one part of each
   * family for each service code.
   */
  *collectFamilies(
    now: Instant,
    states: readonly CodeState[] = this.states,
    newCounters: NewCounters = 'zero',
  ): Generator<Family, void, undefined> {
    const wallOffsetMs = getWallOffsetMs(now);
    const codes = states.map((state) => {
      const { at = now } = state.snapshot ?? {};
      const view = {
        isListingStale: isStale(state, now.monotonicMs),
        newCounters,
        nowMs: now.monotonicMs,
        wallOffsetMs,
        shiftMs: wallOffsetMs - getWallOffsetMs(at),
      };
      return {
        serviceCode: state.serviceCode,
        staticLabels: state.labels,
        // One code after the other: its numbers are close together in memory.
        samples: FAMILIES.map(([, getSamples]) => getSamples(state, view)),
      };
    });
    for (const [index, [spec]] of FAMILIES.entries())
      for (const { serviceCode, staticLabels, samples: all } of codes) {
        const samples = all[index];
        if (samples !== undefined) yield { spec, samples, serviceCode, staticLabels };
      }
  }
}

/** Reads one family from a state; `undefined` if there is nothing to expose. */
type SampleGetter = (state: CodeState, view: View) => Samples | undefined;

interface View {
  readonly isListingStale: boolean;
  readonly newCounters: NewCounters;
  /** Monotonic. */
  readonly nowMs: number;
  /** Added to a monotonic time, gives its wall-clock time. */
  readonly wallOffsetMs: number;
  /** How far the wall clock was set forward since the last listing. */
  readonly shiftMs: number;
}

/** What a label set of a counter shows while it is new: scrapes get 0, people its total. */
export type NewCounters = 'zero' | 'total';

const OWN_SAMPLES = {
  up: ({ lastPoll, failure }) => columnOf(lastPoll && Number(failure === undefined)),
  ret: ({ ret }) => columnOf(ret),
  taskLifetime: ({ snapshot }) => snapshot?.lifetimes,
  expectedTasks: (state, view) =>
    columnOf(
      state.expectation &&
        countExpectedTasks(
          state.expectation,
          getCurrentListing(state, view.isListingStale)?.expectedTaskCount,
        ),
    ),
  expectedTaskUp: (state, view) => toExpected(state, view, ({ condition }) => (condition === 'up' ? 1 : 0)),
  expectedTaskOutputs: (state, view) => toExpected(state, view, ({ outputs }) => outputs),
  expectedTaskByteCountsWaiting: (state, view) => toExpected(state, view, ({ waiting }) => waiting),
  expectedTaskMinInputRate: (state) => toMinima(state, ({ inputBytesPerSecond }) => inputBytesPerSecond),
  expectedTaskDueOutputs: (state, view) => {
    const minima = new Map(state.expectation?.minima?.map(({ name, outputs }) => [name, outputs]));
    return columnByLabel(
      listExpected(state, view).map(({ name, dueOutputs }) => [
        name,
        minima.get(name) ?? dueOutputs ?? Number.NaN,
      ]),
    );
  },
  expectedTaskInputRate: (state, view) => toExpected(state, view, ({ inputRate }) => inputRate),
} satisfies Readonly<Record<Exclude<keyof typeof STATE_FAMILIES, TableFamilyKey>, SampleGetter>>;

const SAMPLES: ReadonlyMap<string, SampleGetter> = new Map<string, SampleGetter>([
  ...Object.entries({ ...OWN_SAMPLES, ...POLL_SAMPLES }),
  ...LABEL_GROUP_NAMES.flatMap((group) =>
    familiesOf(group).map((family) => [family, createColumnGetter(group, family)] as const),
  ),
]);

/** In the order of the catalogue. */
const FAMILIES = Object.entries<FamilySpec>({ ...STATE_FAMILIES, ...POLL_FAMILIES }).flatMap(
  ([key, spec]) => {
    const getSamples = SAMPLES.get(key);
    return getSamples === undefined ? [] : [[spec, getSamples] as const];
  },
);

/** When the last listing is stale, gauges and the counters of single tasks disappear; other counters stay. */
function createColumnGetter(group: LabelGroupName, family: string): SampleGetter {
  const { of, families } = labelGroup(group);
  const { type, isTimestamp = false } = families[family] ?? {};
  const isCounter = type === 'counter';
  const outlivesListing = isCounter && of !== 'single_task';
  return ({ snapshot }, { isListingStale, newCounters, shiftMs }) => {
    if (!outlivesListing && isListingStale) return undefined;
    const all: Readonly<Partial<Record<LabelGroupName, Rows>>> | undefined = snapshot?.rows;
    const rows = all?.[group];
    const numbers = rows?.columns[family];
    if (rows === undefined || numbers === undefined) return undefined;
    const { labelSets, newRows = [] } = rows;
    if (isTimestamp && shiftMs !== 0)
      return { labelSets, numbers: numbers.map((seconds) => seconds + shiftMs / 1000) };
    return {
      labelSets,
      numbers: isCounter && newCounters === 'zero' ? withZeros(numbers, newRows) : numbers,
    };
  };
}

function withZeros(numbers: readonly number[], rows: readonly number[]): readonly number[] {
  if (rows.length === 0) return numbers;
  const exposed = [...numbers];
  for (const row of rows) if (!Number.isNaN(exposed[row] ?? Number.NaN)) exposed[row] = 0;
  return exposed;
}

/** A number for each expected name that has the minimum, whatever the polls do. */
function toMinima(
  { expectation }: CodeState,
  getValue: (minima: ExpectedMinima) => number | undefined,
): Column {
  const minima = expectation?.minima ?? [];
  return columnByLabel(minima.map((of) => [of.name, getValue(of) ?? Number.NaN]));
}

/** The last listing, if it is recent and no poll has failed since. */
function getCurrentListing({ snapshot, failure }: CodeState, isListingStale: boolean): Snapshot | undefined {
  return isListingStale || failure !== undefined ? undefined : snapshot;
}

function listExpected(
  { expectation, snapshot }: CodeState,
  { isListingStale }: View,
): readonly ExpectedTask[] {
  return listExpectedTasks(expectation, isListingStale ? undefined : snapshot?.expectedTasks);
}

/** A name that a reload has added has no number before the next listing or failed poll. */
function toExpected(
  state: CodeState,
  view: View,
  getValue: (task: ExpectedTask) => number | undefined,
): Column {
  const isListed = getCurrentListing(state, view.isListingStale) !== undefined;
  const known = listExpected(state, view).filter(({ condition }) => !isListed || condition !== 'unknown');
  return columnByLabel(known.map((task) => [task.name, getValue(task) ?? Number.NaN]));
}
