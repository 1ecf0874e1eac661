import { injectSimulatorFault } from '../integration/fault-actions.ts';
import type { Fault } from '../integration/faults/fault.ts';
import { FAULTS } from '../integration/faults/table.ts';
import type { SimulatedService } from './simulated-service.ts';
import type { SoakCode } from './settings.ts';

/** What happens to the service codes: the faults of the matrix that come by plain HTTP, and what is no failure. */
type InjectedFault = Pick<Fault, 'name' | 'make'> & { readonly reason?: Fault['reason'] };

const INJECTABLE_FAULTS: readonly InjectedFault[] = [
  ...FAULTS.filter(
    ({ faultyCode, isTimestampFault, skippedPolls = 0 }) =>
      faultyCode === undefined && isTimestampFault !== true && skippedPolls < 5,
  ),
  { name: 'records that break the interface', make: injectSimulatorFault({ fault: 'bad_record', every: 3 }) },
  { name: 'a listing that is empty', make: injectSimulatorFault({ fault: 'ret', value: '0' }) },
];

/** Maximum number of consecutive polls with the same fault. */
const MAX_POLLS_PER_FAULT = 4;

/** Switches faults on and off at random, right after a poll, so that none is changed in its midst. */
export class FaultInjector {
  readonly #service: SimulatedService;
  readonly #random: () => number;
  readonly #pollsLeft = new Map<SoakCode, number>();
  readonly #activeFaults = new Map<SoakCode, InjectedFault>();
  readonly #injectedKinds = new Set<string>();
  #isStopped = false;
  /** How often something was switched on. */
  injectionCount = 0;

  constructor(service: SimulatedService, random: () => number) {
    this.#service = service;
    this.#random = random;
  }

  /** Different faults that the exporter was in. */
  get injectedKindCount(): number {
    return this.#injectedKinds.size;
  }

  /** What is broken of a service code at this moment. */
  getActiveFault(code: SoakCode): InjectedFault | undefined {
    return this.#activeFaults.get(code);
  }

  /** A poll of a service code has ended. */
  async handlePollEnd(code: SoakCode): Promise<void> {
    const left = (this.#pollsLeft.get(code) ?? this.#drawPause()) - 1;
    this.#pollsLeft.set(code, left);
    if (left > 0 || this.#isStopped) return;
    const was = this.#activeFaults.get(code);
    if (was === undefined) await this.#injectFault(code);
    else await this.#clearFault(code);
  }

  /** Mends everything; nothing breaks until `resume`. */
  async stop(codes: readonly SoakCode[]): Promise<void> {
    this.#isStopped = true;
    for (const code of codes) await this.#clearFault(code);
  }

  resume(): void {
    this.#isStopped = false;
  }

  async #injectFault(code: SoakCode): Promise<void> {
    const mishap = INJECTABLE_FAULTS[Math.floor(this.#random() * INJECTABLE_FAULTS.length)];
    if (mishap === undefined) return;
    this.injectionCount += 1;
    this.#injectedKinds.add(mishap.name);
    this.#activeFaults.set(code, mishap);
    this.#pollsLeft.set(code, 1 + Math.floor(this.#random() * MAX_POLLS_PER_FAULT));
    await mishap.make(this.#service.createFaultTarget(code));
  }

  async #clearFault(code: SoakCode): Promise<void> {
    this.#activeFaults.delete(code);
    this.#pollsLeft.set(code, this.#drawPause());
    await this.#service.clearFaults(code);
  }

  /** How many good polls come between two faults. */
  #drawPause(): number {
    return 1 + Math.floor(this.#random() * 3);
  }
}
