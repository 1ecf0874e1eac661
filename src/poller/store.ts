import { CATALOGUE } from '../metrics/catalogue.ts';
import { CodeLabels } from '../metrics/code-labels.ts';
import type { Family, FamilySpec, Sample, Samples } from '../metrics/family.ts';
import { COUNTER_FAMILIES, LISTING_FAMILIES, type Snapshot } from '../tally/snapshot.ts';
import type { PollErrorReason } from '../upstream/errors.ts';
import { PollHistory, type PollHistoryView } from './poll-history.ts';

/**
 * What is known of a service code after its last poll. Never changes, but for the history, which goes on; a later one
 * takes its place whole.
 */
export interface CodeState {
  readonly serviceCode: string;
  /** Whether the last poll succeeded; `undefined` before the first has ended. */
  readonly isUp: boolean | undefined;
  /** The last answer's `ret`. */
  readonly ret: number | undefined;
  /** Wall-clock milliseconds. */
  readonly lastPollMs: number | undefined;
  readonly lastSuccessMs: number | undefined;
  readonly lastError: PollErrorReason | undefined;
  /** Of the last good listing. */
  readonly snapshot: Snapshot | undefined;
  /** For how long after the last good listing its gauges stand. */
  readonly staleAfterMs: number;
  /** Of the last polls, this one among them. */
  readonly history: PollHistoryView;
}

/** The state of a service code that has not been polled. */
export function unpolled(
  serviceCode: string,
  staleAfterMs: number,
  history: PollHistoryView = new PollHistory(),
): CodeState {
  return {
    serviceCode,
    isUp: undefined,
    ret: undefined,
    lastPollMs: undefined,
    lastSuccessMs: undefined,
    lastError: undefined,
    snapshot: undefined,
    staleAfterMs,
    history,
  };
}

/** Whether the last good listing is too old to be shown; `nowMs` is monotonic. */
export function isStale({ snapshot, staleAfterMs }: CodeState, nowMs: number): boolean {
  return snapshot !== undefined && nowMs - snapshot.at.monotonicMs > staleAfterMs;
}

/** The latest state of every service code: what a scrape reads, and polls replace. */
export class Store {
  readonly #states = new Map<string, CodeState>();
  readonly #sources = snapshotSources();
  readonly #labels: CodeLabels;

  constructor(labels = new CodeLabels()) {
    this.#labels = labels;
  }

  publish(state: CodeState): void {
    this.#states.set(state.serviceCode, state);
  }

  /** Forgets a service code: nothing of it is exposed any more. */
  remove(serviceCode: string): void {
    this.#states.delete(serviceCode);
  }

  get(serviceCode: string): CodeState | undefined {
    return this.#states.get(serviceCode);
  }

  get states(): readonly CodeState[] {
    return [...this.#states.values()];
  }

  /**
   * What is exposed of all, or of the given, service codes, in the order of the catalogue: a part of each family
   * per service code, with the very samples of its snapshot, so that what was rendered of them can be found again.
   */
  families(nowMs: number, serviceCodes?: ReadonlySet<string>): readonly Family[] {
    const states = this.states.filter(({ serviceCode }) => serviceCodes?.has(serviceCode) ?? true);
    const known = states.filter(hasSnapshot);
    const fresh = known.filter((state) => !isStale(state, nowMs));
    return [
      ...this.#labels.split({ spec: CATALOGUE.up, samples: states.flatMap(upSample) }),
      ...this.#labels.split({ spec: CATALOGUE.ret, samples: states.flatMap(retSample) }),
      ...this.#sources.flatMap(({ spec, goesStale, samplesOf }) =>
        (goesStale ? fresh : known).map(({ serviceCode, snapshot }) =>
          this.#labels.label({ spec, samples: samplesOf(snapshot) }, serviceCode),
        ),
      ),
    ];
  }
}

function hasSnapshot(state: CodeState): state is CodeState & { readonly snapshot: Snapshot } {
  return state.snapshot !== undefined;
}

/** A family that comes from snapshots. */
interface Source {
  readonly spec: FamilySpec;
  /** Whether it describes the last listing, and vanishes with it. */
  readonly goesStale: boolean;
  readonly samplesOf: (snapshot: Snapshot) => Samples;
}

/** All such families, in the order of the catalogue. */
function snapshotSources(): readonly Source[] {
  const specs: readonly FamilySpec[] = Object.values(CATALOGUE);
  const ofListing = LISTING_FAMILIES.map((key): Source => ({
    spec: CATALOGUE[key],
    goesStale: true,
    samplesOf: ({ listing }) => listing[key] ?? [],
  }));
  const ofCounters = COUNTER_FAMILIES.map((key): Source => ({
    spec: CATALOGUE[key],
    goesStale: false,
    samplesOf: ({ counters }) => counters[key],
  }));
  return [...ofListing, ...ofCounters].toSorted((a, b) => specs.indexOf(a.spec) - specs.indexOf(b.spec));
}

function upSample({ serviceCode, isUp }: CodeState): Sample[] {
  return isUp === undefined ? [] : [{ labels: [serviceCode], value: isUp ? 1 : 0 }];
}

function retSample({ serviceCode, ret }: CodeState): Sample[] {
  return ret === undefined ? [] : [{ labels: [serviceCode], value: ret }];
}
