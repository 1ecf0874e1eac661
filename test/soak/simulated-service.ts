import { systemClock } from '../../src/runtime/clock.ts';
import type { ResponseFault } from '../../src/simulator/faults.ts';
import { startSimulator, type Simulator } from '../../src/simulator/server.ts';
import { createWorld, type World } from '../../src/simulator/world.ts';
import { clearFaults, type FaultTarget } from '../integration/fault-actions.ts';
import { FaultProxy } from '../integration/fault-proxy.ts';
import { ByteGrowth, countBytes, type ListingBytes } from '../support/listing-bytes.ts';
import { AcceleratedClock } from './accelerated-clock.ts';
import { ListingEvents, type DisturbedTask } from './listing-events.ts';
import { createRandom, SPEED_FACTOR, SECRET, SOAK_CODES, TASKS, USERS, type SoakCode } from './settings.ts';

/** A listing, and when it was given in wall-clock milliseconds. */
interface GivenListing extends ListingBytes {
  readonly givenAtMs: number;
}

/**
 * The simulated service, with a front for each service code, and its own account of what it listed: each listing that it
 * gives is held until the exporter says what became of it.
 */
export class SimulatedService implements AsyncDisposable {
  readonly clock = new AcceleratedClock(SPEED_FACTOR);
  readonly #simulator: Simulator;
  readonly #proxies: ReadonlyMap<SoakCode, FaultProxy>;
  readonly #pendingListings: ReadonlyMap<SoakCode, GivenListing[]>;
  readonly #growth = new Map(SOAK_CODES.map((code) => [code, new ByteGrowth()]));
  readonly #events: ReadonlyMap<SoakCode, ListingEvents>;

  private constructor(
    simulator: Simulator,
    fronts: ReadonlyMap<SoakCode, FaultProxy>,
    given: ReadonlyMap<SoakCode, GivenListing[]>,
    events: ReadonlyMap<SoakCode, ListingEvents>,
    clock: AcceleratedClock,
  ) {
    this.#simulator = simulator;
    this.#proxies = fronts;
    this.#pendingListings = given;
    this.#events = events;
    this.clock = clock;
  }

  static async start(seed: number): Promise<SimulatedService> {
    const clock = new AcceleratedClock(SPEED_FACTOR);
    const world = createWorld({ seed, startedAtMs: clock.now(), users: USERS, tasks: TASKS });
    const given = new Map(SOAK_CODES.map((code): [SoakCode, GivenListing[]] => [code, []]));
    const events = new Map(
      SOAK_CODES.map((code, index) => [code, new ListingEvents(createRandom(seed + 2 + index))]),
    );
    const faultOf = (code: string): ResponseFault | undefined => simulator.faults.getResponseFault(code);
    const simulator: Simulator = await startSimulator({
      listen: { host: '127.0.0.1', port: 0 },
      world: recordListings(world, given, events, faultOf),
      codes: new Map(SOAK_CODES.map((code) => [code, SECRET])),
      clock,
      // Its time is not that of the exporter.
      clockToleranceMs: 0,
      gzip: true,
    });
    const fronts = new Map<SoakCode, FaultProxy>();
    for (const code of SOAK_CODES) fronts.set(code, await FaultProxy.start(simulator.url));
    return new SimulatedService(simulator, fronts, given, events, clock);
  }

  /** Where the service is for a service code. */
  getUrl(code: SoakCode): string {
    return `http://127.0.0.1:${this.#getProxy(code).port}`;
  }

  /** What the faults of the matrix are made with. */
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
   * The exporter says that a poll has succeeded, or failed: what it was given last until then counts, or does not. False
   * if it was given nothing.
   */
  handlePollEnd(code: SoakCode, hasSucceeded: boolean, atMs: number): boolean {
    const pending = this.#pendingListings.get(code) ?? [];
    const later = pending.findIndex(({ givenAtMs }) => givenAtMs > atMs);
    const last = pending.splice(0, later === -1 ? pending.length : later).at(-1);
    if (hasSucceeded && last !== undefined) this.#growth.get(code)?.recordListing(last);
    return !hasSucceeded || last !== undefined;
  }

  /** Lists everything, and lets no bytes flow, until `resume`. */
  pause(): void {
    this.clock.pause();
    for (const events of this.#events.values()) events.isCalm = true;
  }

  resume(): void {
    for (const events of this.#events.values()) events.isCalm = false;
    this.clock.resume();
  }

  /** Forgets the listings that a killed exporter was reading. */
  dropPendingListings(): void {
    for (const listings of this.#pendingListings.values()) listings.splice(0);
  }

  /** Changes between listings so far. */
  get eventCount(): number {
    return [...this.#events.values()].reduce((sum, { count }) => sum + count, 0);
  }

  /** What flowed, came and went by its own account, of one service code. */
  getTotals(
    code: SoakCode,
  ): Readonly<Pick<ByteGrowth, 'input' | 'output' | 'started' | 'ended' | 'returned'>> {
    return this.#growth.get(code) ?? new ByteGrowth();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const front of this.#proxies.values()) await front[Symbol.asyncDispose]();
    await this.#simulator[Symbol.asyncDispose]();
  }

  #getProxy(code: SoakCode): FaultProxy {
    const front = this.#proxies.get(code);
    if (front === undefined) throw new Error(`Expected a front of ${code}, found none`);
    return front;
  }
}

/** A world that notes each listing as it is given, as far as the events and the fault of the moment leave it. */
function recordListings(
  world: World,
  given: ReadonlyMap<string, GivenListing[]>,
  events: ReadonlyMap<string, ListingEvents>,
  faultOf: (code: string) => ResponseFault | undefined,
): World<DisturbedTask> {
  return {
    ...world,
    tasks: (code, timeMs, freezes = []) => {
      const isListed = createListedFilter(faultOf(code));
      const tasks = events.get(code)?.apply([...world.tasks(code, timeMs, freezes)]) ?? [];
      if (isListed !== undefined)
        given.get(code)?.push({
          ...countBytes(tasks.filter((_, index) => isListed(index))),
          givenAtMs: systemClock.now(),
        });
      return tasks;
    },
  };
}

/** Which tasks, by their place, an answer with a fault lists; undefined where it is no listing. */
function createListedFilter(fault: ResponseFault | undefined): ((index: number) => boolean) | undefined {
  if (fault === undefined) return () => true;
  if (fault.fault === 'bad_record') return (index) => (index + 1) % fault.every !== 0;
  if (fault.fault === 'ret' && Number(fault.value) === 0) return () => false;
  return undefined;
}
