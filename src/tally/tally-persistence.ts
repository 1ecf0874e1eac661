import type { Instant } from './instant.ts';
import type { KnownTask } from './known-task.ts';
import { LEDGER_COUNTERS, type Ledger } from './ledger.ts';
import type { ServerMemory } from './server-memory.ts';
import type { StateUnit } from './state-unit.ts';
import type { TaskDetails } from './task-details.ts';

/** What of a tally outlives the process. Not the places of gauges: they are given anew. */
export interface TallyParts {
  readonly serviceCode: string;
  readonly ledger: Ledger;
  readonly servers: ServerMemory;
  readonly details: TaskDetails | undefined;
}

const HAS_FLOWED = 1;
const IS_STALLED = 2;
const IS_FROM_BASELINE = 4;

type TaskUnit = Extract<StateUnit, readonly ['task', ...unknown[]]>;

/** The units of a tally, `code` first; none before its first good listing. */
export function* unitsOf({ serviceCode, ledger, servers, details }: TallyParts): Generator<StateUnit, void> {
  const { progress } = ledger;
  if (progress === undefined) return;
  const { last, listings, created } = progress;
  yield ['code', serviceCode, last.wallMs, listings, created];
  for (const counter of LEDGER_COUNTERS) {
    for (const series of ledger.counters[counter].kept()) {
      const idleMs = last.monotonicMs - series.lastTouchedMs;
      yield ['counter', counter, [...series.labels], series.total, series.created, idleMs];
    }
  }
  const { counts, sum } = ledger.keptLifetimes;
  yield ['lifetimes', [...counts], sum];
  const instants = new InstantNumbers(last);
  for (const [vsId, seen] of servers.kept) {
    yield* instants.announce(seen);
    yield ['server', vsId, instants.of(seen)];
  }
  for (const [id, task] of ledger.tasks) {
    yield* instants.announce(task.firstSeen);
    yield* instants.announce(task.lastFlow);
    yield taskUnit(id, task, instants);
  }
  for (const [id, { input, outputs }] of details?.kept ?? []) {
    const counters = [...outputs].map(([format, counter]): [string, number, number] => [
      format,
      counter.total,
      counter.created,
    ]);
    yield ['detail', id, input.total, input.created, counters];
  }
}

function taskUnit(id: string, task: KnownTask, instants: InstantNumbers): TaskUnit {
  const flags =
    (task.hasFlowed ? HAS_FLOWED : 0) +
    (task.isStalled ? IS_STALLED : 0) +
    (task.isFromBaseline ? IS_FROM_BASELINE : 0);
  const { vsId, inputBytes, inputSource = '', lastListing, firstSeen, lastFlow, outputs } = task;
  const [first, flow] = [instants.of(firstSeen), instants.of(lastFlow)];
  return ['task', id, vsId, inputBytes, inputSource, lastListing, first, flow, flags, outputs];
}

/** Numbers the moments that tasks and servers share, which are as many as listings, not as tasks. */
class InstantNumbers {
  readonly #last: Instant;
  readonly #numbers = new Map<Instant, number>();

  constructor(last: Instant) {
    this.#last = last;
  }

  of(instant: Instant): number {
    return this.#numbers.get(instant) ?? 0;
  }

  /** The unit of a moment that had none yet. */
  *announce(instant: Instant): Generator<StateUnit, void> {
    if (this.#numbers.has(instant)) return;
    this.#numbers.set(instant, this.#numbers.size);
    yield ['instant', instant.wallMs, this.#last.monotonicMs - instant.monotonicMs];
  }
}

/** Makes a tally, unit by unit, what another one was. */
export class TallyRestoring {
  readonly #parts: TallyParts;
  readonly #now: Instant;
  readonly #instants: Instant[] = [];
  /** When the last good listing was, on the monotonic clock of this process. */
  #lastMs = 0;

  constructor(parts: TallyParts, now: Instant) {
    this.#parts = parts;
    this.#now = now;
  }

  /** Takes the next unit; false if it does not go with those before it. */
  take(unit: StateUnit): boolean {
    const { ledger, details } = this.#parts;
    switch (unit[0]) {
      case 'code':
        return this.#takeCode(unit);
      case 'counter': {
        const [, counter, labels, total, created, idleMs] = unit;
        ledger.counters[counter].restore({ labels, total, created, lastTouchedMs: this.#lastMs - idleMs });
        return true;
      }
      case 'lifetimes':
        ledger.restoreLifetimes({ counts: unit[1], sum: unit[2] });
        return true;
      case 'instant':
        this.#instants.push({ wallMs: unit[1], monotonicMs: this.#lastMs - unit[2] });
        return true;
      case 'server':
        return this.#takeServer(unit[1], this.#instants[unit[2]]);
      case 'task':
        return this.#takeTask(unit);
      case 'detail': {
        const [, id, total, created, outputs] = unit;
        details?.restore(id, { input: { total, created }, outputs: outputs.map(detailCounter) });
        return true;
      }
    }
  }

  /** Only the time between the processes is measured by the wall clock, which may have been set back meanwhile. */
  #takeCode([, serviceCode, wallMs, listings, created]: Extract<
    StateUnit,
    readonly ['code', ...unknown[]]
  >): boolean {
    const { ledger } = this.#parts;
    if (serviceCode !== this.#parts.serviceCode || ledger.progress !== undefined) return false;
    this.#lastMs = this.#now.monotonicMs - Math.max(0, this.#now.wallMs - wallMs);
    ledger.restoreProgress({ listings, created, last: { wallMs, monotonicMs: this.#lastMs } });
    return true;
  }

  #takeServer(vsId: string, seen: Instant | undefined): boolean {
    if (seen !== undefined) this.#parts.servers.restore(vsId, seen);
    return seen !== undefined;
  }

  #takeTask([, id, vsId, inputBytes, source, lastListing, first, flow, flags, outputs]: TaskUnit): boolean {
    const [firstSeen, lastFlow] = [this.#instants[first], this.#instants[flow]];
    if (firstSeen === undefined || lastFlow === undefined) return false;
    this.#parts.ledger.restoreTask(id, {
      vsId,
      inputBytes,
      inputSource: source === '' ? undefined : source,
      outputs,
      lastListing,
      firstSeen,
      lastFlow,
      hasFlowed: (flags & HAS_FLOWED) !== 0,
      isStalled: (flags & IS_STALLED) !== 0,
      isFromBaseline: (flags & IS_FROM_BASELINE) !== 0,
    });
    return true;
  }
}

function detailCounter([format, total, created]: readonly [string, number, number]) {
  return [format, { total, created }] as const;
}
