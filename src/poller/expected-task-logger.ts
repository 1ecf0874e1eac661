import type { Logger } from '../runtime/logger.ts';
import { formatTaskCondition, type ExpectedTask } from '../tally/expectations.ts';
import type { Snapshot } from '../tally/snapshot.ts';

/** A name is logged at most once in this time. */
const MIN_PAUSE_MS = 60_000;
const MAX_STREAMS = 10;

type State = ExpectedTask['condition'] | 'slow';

/** What the log says of a name. */
interface Logged {
  readonly state: State;
  /** Monotonic; `undefined` if no line had the name. */
  readonly atMs: number | undefined;
}

/** Logs which expected names of a service code are down or slow, and which are back. */
export class ExpectedTaskLogger {
  readonly #logger: Pick<Logger, 'info' | 'warn'>;
  #logged: ReadonlyMap<string, Logged> = new Map();

  constructor(logger: Pick<Logger, 'info' | 'warn'>) {
    this.#logger = logger;
  }

  /** A change that comes too early is logged with a later listing if it still holds. */
  log({ expectedTasks, at: { monotonicMs } }: Pick<Snapshot, 'expectedTasks' | 'at'>): void {
    const short: string[] = [];
    const back: string[] = [];
    const logged = expectedTasks.map((task): [string, Logged] => {
      const before = this.#logged.get(task.name) ?? { state: 'up', atMs: undefined };
      const state = getState(task);
      const isTooEarly = before.atMs !== undefined && monotonicMs - before.atMs < MIN_PAUSE_MS;
      if (state === before.state || state === 'unknown' || isTooEarly) return [task.name, before];
      if (state === 'up') back.push(task.name);
      else short.push(describe(task, state));
      return [task.name, { state, atMs: monotonicMs }];
    });
    this.#logged = new Map(logged);
    if (short.length > 0) this.#logger.warn(toFields(short), 'Expected streams fall short');
    if (back.length > 0) this.#logger.info(toFields(back), 'Expected streams are back');
  }
}

function getState({ condition, slowSinceMs }: ExpectedTask): State {
  return condition === 'up' && slowSinceMs !== undefined ? 'slow' : condition;
}

function describe({ name, sinceMs, slowSinceMs }: ExpectedTask, state: State): string {
  const ms = state === 'slow' ? slowSinceMs : sinceMs;
  const since = ms === undefined ? '' : ` since ${new Date(ms).toISOString()}`;
  return `${name} ${formatTaskCondition(state)}${since}`;
}

function toFields(streams: readonly string[]): object {
  return { count: streams.length, streams: streams.slice(0, MAX_STREAMS) };
}
