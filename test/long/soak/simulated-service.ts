import { systemClock } from '../../../src/runtime/clock.ts';
import type { ResponseFault } from '../../../src/simulator/faults.ts';
import { startSimulator, type Simulator } from '../../../src/simulator/server.ts';
import { createWorld, type World } from '../../../src/simulator/world.ts';
import { clearFaults, type FaultTarget } from '../../integration/fault-actions.ts';
import { FaultProxy } from '../../integration/fault-proxy.ts';
import { ByteGrowth, countBytes, type ListingBytes } from '../../support/listing-bytes.ts';
import { AcceleratedClock } from './accelerated-clock.ts';
import { ListingEvents, type DisturbedTask } from './listing-events.ts';
import { createRandom, SPEED_FACTOR, SECRET, SOAK_CODES, TASKS, USERS, type SoakCode } from './settings.ts';

/** The bytes of a served listing, and its wall-clock time in milliseconds. */
interface ServedListing extends ListingBytes {
  readonly servedAtMs: number;
}

/**
 * The simulated service with a fault proxy for each service code. It computes the expected counters: each served listing
 * is pending until the exporter logs the result of its poll.
 */
export class SimulatedService implements AsyncDisposable {
  readonly clock = new AcceleratedClock(SPEED_FACTOR);
  readonly #simulator: Simulator;
  readonly #proxies: ReadonlyMap<SoakCode, FaultProxy>;
  readonly #pendingListings: ReadonlyMap<SoakCode, ServedListing[]>;
  readonly #growth = new Map(SOAK_CODES.map((code) => [code, new ByteGrowth()]));
  readonly #events: ReadonlyMap<SoakCode, ListingEvents>;

  private constructor(
    simulator: Simulator,
    proxies: ReadonlyMap<SoakCode, FaultProxy>,
    pendingListings: ReadonlyMap<SoakCode, ServedListing[]>,
    events: ReadonlyMap<SoakCode, ListingEvents>,
    clock: AcceleratedClock,
  ) {
    this.#simulator = simulator;
    this.#proxies = proxies;
    this.#pendingListings = pendingListings;
    this.#events = events;
    this.clock = clock;
  }

  static async start(seed: number): Promise<SimulatedService> {
    const clock = new AcceleratedClock(SPEED_FACTOR);
    const world = createWorld({ seed, startedAtMs: clock.now(), users: USERS, tasks: TASKS });
    const pendingListings = new Map(SOAK_CODES.map((code): [SoakCode, ServedListing[]] => [code, []]));
    const events = new Map(
      SOAK_CODES.map((code, index) => [code, new ListingEvents(createRandom(seed + 2 + index))]),
    );
    const faultOf = (code: string): ResponseFault | undefined => simulator.faults.getResponseFault(code);
    const simulator: Simulator = await startSimulator({
      listenAddress: { host: '127.0.0.1', port: 0 },
      world: recordListings(world, pendingListings, events, faultOf),
      secretsByServiceCode: new Map(SOAK_CODES.map((code) => [code, SECRET])),
      clock,
      // The accelerated clock differs from the clock of the exporter.
      clockToleranceMs: 0,
      isGzipEnabled: true,
    });
    const proxies = new Map<SoakCode, FaultProxy>();
    for (const code of SOAK_CODES) proxies.set(code, await FaultProxy.start(simulator.url));
    return new SimulatedService(simulator, proxies, pendingListings, events, clock);
  }

  /** Returns the base URL of the proxy of a service code. */
  getUrl(code: SoakCode): string {
    return `http://127.0.0.1:${this.#getProxy(code).port}`;
  }

  createFaultTarget(code: SoakCode): FaultTarget {
    return {
      serviceCode: code,
      proxy: this.#getProxy(code),
      faults: this.#simulator.faults,
      clock: systemClock,
    };
  }

  async clearFaults(code: SoakCode): Promise<void> {
    await clearFaults(this.createFaultTarget(code));
  }

  /**
   * Counts the last listing served until `atMs` if its poll succeeded, and drops it otherwise. Returns false if a poll
   * succeeded without a served listing.
   */
  handlePollEnd(code: SoakCode, hasSucceeded: boolean, atMs: number): boolean {
    const pending = this.#pendingListings.get(code) ?? [];
    const later = pending.findIndex(({ servedAtMs }) => servedAtMs > atMs);
    const last = pending.splice(0, later === -1 ? pending.length : later).at(-1);
    if (hasSucceeded && last !== undefined) this.#growth.get(code)?.recordListing(last);
    return !hasSucceeded || last !== undefined;
  }

  /** Stops all events and byte counts until `resume`; listings contain every task. */
  pause(): void {
    this.clock.pause();
    for (const events of this.#events.values()) events.isCalm = true;
  }

  resume(): void {
    for (const events of this.#events.values()) events.isCalm = false;
    this.clock.resume();
  }

  /** Drops the listings that a killed exporter was reading. */
  dropPendingListings(): void {
    for (const listings of this.#pendingListings.values()) listings.splice(0);
  }

  /** Number of events between listings so far. */
  get eventCount(): number {
    return [...this.#events.values()].reduce((sum, { count }) => sum + count, 0);
  }

  /** Returns the expected bytes and task counts of one service code. */
  getTotals(
    code: SoakCode,
  ): Readonly<Pick<ByteGrowth, 'input' | 'output' | 'started' | 'ended' | 'returned'>> {
    return this.#growth.get(code) ?? new ByteGrowth();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const proxy of this.#proxies.values()) await proxy[Symbol.asyncDispose]();
    await this.#simulator[Symbol.asyncDispose]();
  }

  #getProxy(code: SoakCode): FaultProxy {
    const proxy = this.#proxies.get(code);
    if (proxy === undefined) throw new Error(`Expected a proxy for ${code}, found none`);
    return proxy;
  }
}

/** Wraps a world: applies events to each listing and records the tasks that the active fault leaves in it. */
function recordListings(
  world: World,
  pendingListings: ReadonlyMap<string, ServedListing[]>,
  events: ReadonlyMap<string, ListingEvents>,
  faultOf: (code: string) => ResponseFault | undefined,
): World<DisturbedTask> {
  return {
    ...world,
    tasks: (code, timeMs, freezes = []) => {
      const isListed = createListedFilter(faultOf(code));
      const tasks = events.get(code)?.apply([...world.tasks(code, timeMs, freezes)]) ?? [];
      if (isListed !== undefined)
        pendingListings.get(code)?.push({
          ...countBytes(tasks.filter((_, index) => isListed(index))),
          servedAtMs: systemClock.now(),
        });
      return tasks;
    },
  };
}

/** Returns a filter of listed tasks by index for a response with this fault; `undefined` if the response is no listing. */
function createListedFilter(fault: ResponseFault | undefined): ((index: number) => boolean) | undefined {
  if (fault === undefined) return () => true;
  if (fault.fault === 'bad_record') return (index) => (index + 1) % fault.every !== 0;
  if (fault.fault === 'ret' && Number(fault.value) === 0) return () => false;
  return undefined;
}
