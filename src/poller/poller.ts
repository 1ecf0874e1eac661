import { setMaxListeners } from 'node:events';
import type { Clock } from '../clock.ts';
import { FirstFailure } from '../first-failure.ts';
import { RecordReaders } from '../listing/record-readers.ts';
import { inTurns } from '../in-turns.ts';
import type { Logger } from '../log.ts';
import { Loop } from '../loop.ts';
import type { SelfMetrics } from '../metrics/self.ts';
import { Tally, type TallyOptions } from '../tally/tally.ts';
import { Worksheets } from '../tally/worksheet.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { PollChanges } from './changes.ts';
import { differenceOf, type CodeDifference, type PolledCode } from './polled-code.ts';
import { firstDelayMs, promptDelayMs } from './schedule.ts';
import { ServiceCodePoller, type WatchListing } from './service-code-poller.ts';
import type { Store } from './store.ts';

/** What all tallies have in common. */
type TallySettings = Pick<TallyOptions, 'maxLabelSets' | 'perTask' | 'maxTasks'>;

/**
 * Has a service code polled time and again, by the clock first after `delayMs`, until what it returns is disposed of:
 * that waits for the end of what is under way. `failed` takes mistakes of the program.
 */
export type Drive = (
  poller: ServiceCodePoller,
  delayMs: number,
  failed: (error: unknown) => void,
) => AsyncDisposable;

const onItsOwnClock: Drive = (poller, delayMs, failed) =>
  new Loop((signal) => poller.run(delayMs, signal), failed);

export interface PollerOptions {
  readonly codes: readonly PolledCode[];
  readonly metrics: TallySettings;
  /** Tallies that go on from an earlier process, by service code; all others begin anew. */
  readonly restored?: ReadonlyMap<string, Tally>;
  readonly client: Pick<UpstreamClient, 'requestListing'>;
  readonly store: Store;
  readonly self: SelfMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly watchListing?: WatchListing | undefined;
  /** What makes it poll; its own clock, if not given. */
  readonly drive?: Drive | undefined;
}

/** A service code with what makes it be polled, while that runs. */
interface Polled {
  readonly poller: ServiceCodePoller;
  /** One for each: a signal for all would have a list of listeners that each poll goes through. */
  driven: AsyncDisposable | undefined;
}

/** A tally for a service code, as its polls fill it. */
export function newTally({ target, stallAfterMs }: PolledCode, settings: TallySettings): Tally {
  return new Tally({ ...settings, serviceCode: target.serviceCode, stallAfterMs });
}

/** Polls all service codes, each on its own, until it is disposed of. */
export class Poller implements AsyncDisposable {
  readonly #options: PollerOptions;
  readonly #polled = new Map<string, Polled>();
  readonly #records = new RecordReaders();
  readonly #worksheets = new Worksheets();
  readonly #failure = new FirstFailure();
  #state: 'waiting' | 'running' | 'disposed' = 'waiting';
  #wasFirstRoundOver = false;

  constructor(options: PollerOptions) {
    this.#options = options;
    for (const code of options.codes) this.#add(code, options.restored?.get(code.target.serviceCode));
  }

  /**
   * Whether the first poll of every service code is over, however it went. Stays so when others come: who is ready
   * has something to show.
   */
  get isFirstRoundOver(): boolean {
    return this.#noteFirstRound();
  }

  /** Service codes whose polls should have gone on long ago; `nowMs` is monotonic. */
  standingStill(nowMs: number): readonly string[] {
    return [...this.#polled].filter(([, { poller }]) => poller.standsStill(nowMs)).map(([code]) => code);
  }

  /** The tally of every service code that is polled, as they are now. */
  get tallies(): readonly Tally[] {
    return [...this.#polled.values()].map(({ poller }) => poller.tally);
  }

  /** Polls every service code once, all at a time. Rejects with the signal's reason when it aborts. */
  async pollOnce(signal: AbortSignal): Promise<void> {
    // Each poll listens on it until it is over: more than ten are no leak, of which Node would warn.
    setMaxListeners(0, signal);
    await Promise.all([...this.#polled.values()].map(({ poller }) => poller.poll(signal)));
  }

  /**
   * Begins to poll, the first polls spread over the interval. What it returns never resolves: it rejects with what was
   * thrown when something is wrong with the program.
   */
  start(): Promise<never> {
    this.#state = 'running';
    const all = [...this.#polled.values()];
    for (const [index, one] of all.entries()) {
      this.#run(one, firstDelayMs(index, all.length, one.poller.code.intervalMs));
    }
    return this.#failure.promise;
  }

  /**
   * Polls these service codes from now on. One that is polled already keeps its ledger and its counters, and unless its
   * settings have changed not even a poll under way is disturbed; one that has gone leaves nothing behind.
   */
  async apply(codes: readonly PolledCode[]): Promise<CodeDifference> {
    this.#noteFirstRound();
    const before = [...this.#polled.values()].map(({ poller }) => poller.code);
    const difference = differenceOf(before, codes);
    const { added, changed, removed } = difference;
    await Promise.all([...removed, ...changed].map((code) => halt(this.#known(code))));
    await inTurns(removed, (code) => this.#remove(code));
    const anew = [
      ...(await inTurns(changed, (code) => this.#configure(code))),
      ...(await inTurns(added, (code) => this.#add(code))),
    ];
    if (this.#state === 'running') this.#runPromptly(anew);
    return difference;
  }

  /** Aborts what is under way and waits until no poll runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#state = 'disposed';
    await Promise.all([...this.#polled.values()].map(halt));
  }

  #noteFirstRound(): boolean {
    this.#wasFirstRoundOver ||= this.#options.store.states.every(({ isUp }) => isUp !== undefined);
    return this.#wasFirstRoundOver;
  }

  #runPromptly(anew: readonly Polled[]): void {
    for (const [index, one] of anew.entries()) {
      this.#run(one, promptDelayMs(index, anew.length, one.poller.code.intervalMs));
    }
  }

  #run(one: Polled, delayMs: number): void {
    const { drive = onItsOwnClock } = this.#options;
    one.driven = drive(one.poller, delayMs, this.#failure.report);
  }

  #remove({ target: { serviceCode } }: PolledCode): void {
    this.#polled.delete(serviceCode);
    this.#options.store.remove(serviceCode);
    this.#options.self.untrack(serviceCode);
  }

  #configure(code: PolledCode): Polled {
    const one = this.#known(code);
    one.poller.configure(code);
    this.#options.self.track(code.target.serviceCode, code.intervalMs);
    return one;
  }

  /** What was restored holds for the start alone: a code that comes later begins anew. */
  #add(code: PolledCode, tally = newTally(code, this.#options.metrics)): Polled {
    const one = { poller: this.#pollerFor(code, tally), driven: undefined };
    this.#polled.set(code.target.serviceCode, one);
    return one;
  }

  #known({ target: { serviceCode } }: PolledCode): Polled {
    const one = this.#polled.get(serviceCode);
    if (one === undefined) throw new TypeError(`Expected ${serviceCode} to be polled`);
    return one;
  }

  #pollerFor(code: PolledCode, tally: Tally): ServiceCodePoller {
    const { client, store, self, clock, logger, watchListing } = this.#options;
    const { serviceCode } = code.target;
    return new ServiceCodePoller({
      code,
      client,
      records: this.#records,
      worksheets: this.#worksheets,
      store,
      clock,
      watchListing,
      tally,
      metrics: self.track(serviceCode, code.intervalMs),
      changes: new PollChanges(logger.child({ service_code: serviceCode })),
    });
  }
}

/** Aborts the poll that is under way, and waits for its end. */
async function halt(one: Polled): Promise<void> {
  await one.driven?.[Symbol.asyncDispose]();
  one.driven = undefined;
}
