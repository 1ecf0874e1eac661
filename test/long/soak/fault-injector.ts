import { injectSimulatorFault } from '../../integration/fault-actions.ts';
import type { Fault } from '../../integration/faults/fault.ts';
import { FAULTS } from '../../integration/faults/table.ts';
import type { SimulatedService } from './simulated-service.ts';
import type { SoakCode } from './settings.ts';

/** A fault of the matrix that works over plain HTTP, or a change that does not fail the poll and has no `reason`. */
type InjectedFault = Pick<Fault, 'name' | 'make'> & { readonly reason?: Fault['reason'] };

const INJECTABLE_FAULTS: readonly InjectedFault[] = [
  ...FAULTS.filter(
    ({ faultyCode, isTimestampFault, skippedPolls = 0 }) =>
      faultyCode === undefined && isTimestampFault !== true && skippedPolls < 5,
  ),
  { name: 'invalid records', make: injectSimulatorFault({ fault: 'bad_record', every: 3 }) },
  { name: 'an empty listing', make: injectSimulatorFault({ fault: 'ret', value: '0' }) },
];

/** Maximum number of consecutive polls with the same fault. */
const MAX_POLLS_PER_FAULT = 4;

/** Injects and clears faults at random, right after a poll, so that no fault changes during a poll. */
export class FaultInjector {
  readonly #service: SimulatedService;
  readonly #random: () => number;
  readonly #pollsLeft = new Map<SoakCode, number>();
  readonly #activeFaults = new Map<SoakCode, InjectedFault>();
  readonly #injectedKinds = new Set<string>();
  #isStopped = false;
  /** Number of injected faults. */
  injectionCount = 0;

  constructor(service: SimulatedService, random: () => number) {
    this.#service = service;
    this.#random = random;
  }

  /** Number of different faults injected. */
  get injectedKindCount(): number {
    return this.#injectedKinds.size;
  }

  getActiveFault(code: SoakCode): InjectedFault | undefined {
    return this.#activeFaults.get(code);
  }

  /** Injects or clears a fault of the service code if its number of polls has passed. */
  async handlePollEnd(code: SoakCode): Promise<void> {
    const left = (this.#pollsLeft.get(code) ?? this.#drawPause()) - 1;
    this.#pollsLeft.set(code, left);
    if (left > 0 || this.#isStopped) return;
    if (this.#activeFaults.has(code)) await this.#clearFault(code);
    else await this.#injectFault(code);
  }

  /** Clears all faults and injects none until `resume`. */
  async stop(codes: readonly SoakCode[]): Promise<void> {
    this.#isStopped = true;
    for (const code of codes) await this.#clearFault(code);
  }

  resume(): void {
    this.#isStopped = false;
  }

  async #injectFault(code: SoakCode): Promise<void> {
    const fault = INJECTABLE_FAULTS[Math.floor(this.#random() * INJECTABLE_FAULTS.length)];
    if (fault === undefined) return;
    this.injectionCount += 1;
    this.#injectedKinds.add(fault.name);
    this.#activeFaults.set(code, fault);
    this.#pollsLeft.set(code, 1 + Math.floor(this.#random() * MAX_POLLS_PER_FAULT));
    await fault.make(this.#service.createFaultTarget(code));
  }

  async #clearFault(code: SoakCode): Promise<void> {
    this.#activeFaults.delete(code);
    this.#pollsLeft.set(code, this.#drawPause());
    await this.#service.clearFaults(code);
  }

  /** Number of polls between two faults: 1 to 3. */
  #drawPause(): number {
    return 1 + Math.floor(this.#random() * 3);
  }
}
