import { systemClock } from '../../src/clock.ts';
import type { ResponseFault } from '../../src/simulator/faults.ts';
import { startSimulator, type Simulator } from '../../src/simulator/server.ts';
import { createWorld, type World } from '../../src/simulator/world.ts';
import { mend, type Breakable } from '../integration/breaking.ts';
import { Front } from '../integration/front.ts';
import { bytesListed, ByteGrowth, type ListingBytes } from '../integration/listed-bytes.ts';
import { FastClock } from './fast-clock.ts';
import { PACE, SECRET, SOAK_CODES, TASKS, USERS, type SoakCode } from './settings.ts';

/**
 * The simulated service, with a front for each service code, and its own account of what it listed: each listing that it
 * gives is held until the exporter says what became of it.
 */
export class Service implements AsyncDisposable {
  readonly clock = new FastClock(PACE);
  readonly #simulator: Simulator;
  readonly #fronts: ReadonlyMap<SoakCode, Front>;
  readonly #given: ReadonlyMap<SoakCode, ListingBytes[]>;
  readonly #growth = new Map(SOAK_CODES.map((code) => [code, new ByteGrowth()]));

  private constructor(
    simulator: Simulator,
    fronts: ReadonlyMap<SoakCode, Front>,
    given: ReadonlyMap<SoakCode, ListingBytes[]>,
    clock: FastClock,
  ) {
    this.#simulator = simulator;
    this.#fronts = fronts;
    this.#given = given;
    this.clock = clock;
  }

  static async start(seed: number): Promise<Service> {
    const clock = new FastClock(PACE);
    const world = createWorld({ seed, startedAtMs: clock.now(), users: USERS, tasks: TASKS });
    const given = new Map(SOAK_CODES.map((code): [SoakCode, ListingBytes[]] => [code, []]));
    const faultOf = (code: string): ResponseFault | undefined => simulator.faults.responseFault(code);
    const simulator: Simulator = await startSimulator({
      listen: { host: '127.0.0.1', port: 0 },
      world: noting(world, given, faultOf),
      codes: new Map(SOAK_CODES.map((code) => [code, SECRET])),
      clock,
      // Its time is not that of the exporter.
      clockToleranceMs: 0,
      gzip: true,
    });
    const fronts = new Map<SoakCode, Front>();
    for (const code of SOAK_CODES) fronts.set(code, await Front.start(simulator.url));
    return new Service(simulator, fronts, given, clock);
  }

  /** Where the service is for a service code. */
  urlOf(code: SoakCode): string {
    return `http://127.0.0.1:${this.#front(code).port}`;
  }

  /** What the faults of the matrix are made with. */
  breakable(code: SoakCode): Breakable {
    return {
      serviceCode: code,
      front: this.#front(code),
      faults: this.#simulator.faults,
      clock: systemClock,
    };
  }

  async mend(code: SoakCode): Promise<void> {
    await mend(this.breakable(code));
  }

  /**
   * The exporter says that a poll has succeeded, or failed: what it was given last counts, or does not. False if it was
   * given nothing.
   */
  settled(code: SoakCode, hasSucceeded: boolean): boolean {
    const given = this.#given.get(code)?.splice(0) ?? [];
    const last = given.at(-1);
    if (hasSucceeded && last !== undefined) this.#growth.get(code)?.note(last);
    return !hasSucceeded || last !== undefined;
  }

  /** What flowed, came and went by its own account, of one service code. */
  account(code: SoakCode): Readonly<Pick<ByteGrowth, 'input' | 'output' | 'started' | 'ended'>> {
    return this.#growth.get(code) ?? new ByteGrowth();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const front of this.#fronts.values()) await front[Symbol.asyncDispose]();
    await this.#simulator[Symbol.asyncDispose]();
  }

  #front(code: SoakCode): Front {
    const front = this.#fronts.get(code);
    if (front === undefined) throw new Error(`Expected a front of ${code}, found none`);
    return front;
  }
}

/** A world that notes each listing as it is given, as far as the fault of the moment leaves it. */
function noting(
  world: World,
  given: ReadonlyMap<string, ListingBytes[]>,
  faultOf: (code: string) => ResponseFault | undefined,
): World {
  return {
    ...world,
    tasks: (code, timeMs, freezes = []) => {
      const isListed = listedBy(faultOf(code));
      if (isListed !== undefined) given.get(code)?.push(bytesListed(world, code, timeMs, freezes, isListed));
      return world.tasks(code, timeMs, freezes);
    },
  };
}

/** Which tasks, by their place, an answer with a fault lists; undefined where it is no listing. */
function listedBy(fault: ResponseFault | undefined): ((index: number) => boolean) | undefined {
  if (fault === undefined) return () => true;
  if (fault.fault === 'bad_record') return (index) => (index + 1) % fault.every !== 0;
  if (fault.fault === 'ret' && Number(fault.value) === 0) return () => false;
  return undefined;
}
