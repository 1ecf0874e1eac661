import { simulated } from '../integration/breaking.ts';
import type { Fault } from '../integration/faults/fault.ts';
import { FAULTS } from '../integration/faults/table.ts';
import type { Service } from './service.ts';
import type { SoakCode } from './settings.ts';

/** What happens to the service codes: the faults of the matrix that come by plain HTTP, and what is no failure. */
type Mishap = Pick<Fault, 'name' | 'make'> & { readonly reason?: Fault['reason'] };

const MISHAPS: readonly Mishap[] = [
  ...FAULTS.filter(({ via, isOfTime, skipped = 0 }) => via === undefined && isOfTime !== true && skipped < 5),
  { name: 'records that break the interface', make: simulated({ fault: 'bad_record', every: 3 }) },
  { name: 'a listing that is empty', make: simulated({ fault: 'ret', value: '0' }) },
];

/** At most so many polls in a row have the same fault: fewer than the listings for which a task is remembered. */
const MAX_POLLS = 4;

/** Switches faults on and off at random, right after a poll, so that none is changed in its midst. */
export class Mischief {
  readonly #service: Service;
  readonly #random: () => number;
  readonly #pollsLeft = new Map<SoakCode, number>();
  readonly #ofNow = new Map<SoakCode, Mishap>();
  readonly #survived = new Set<string>();
  #isOver = false;
  /** How often something was switched on. */
  mishaps = 0;

  constructor(service: Service, random: () => number) {
    this.#service = service;
    this.#random = random;
  }

  /** Different faults that the exporter was in. */
  get survived(): number {
    return this.#survived.size;
  }

  /** What is broken of a service code at this moment. */
  ofNow(code: SoakCode): Mishap | undefined {
    return this.#ofNow.get(code);
  }

  /** A poll of a service code has ended. */
  async polled(code: SoakCode): Promise<void> {
    const left = (this.#pollsLeft.get(code) ?? this.#pause()) - 1;
    this.#pollsLeft.set(code, left);
    if (left > 0 || this.#isOver) return;
    const was = this.#ofNow.get(code);
    if (was === undefined) await this.#breakSomething(code);
    else await this.#mend(code);
  }

  /** Mends everything; from now on nothing breaks. */
  async end(codes: readonly SoakCode[]): Promise<void> {
    this.#isOver = true;
    for (const code of codes) await this.#mend(code);
  }

  async #breakSomething(code: SoakCode): Promise<void> {
    const mishap = MISHAPS[Math.floor(this.#random() * MISHAPS.length)];
    if (mishap === undefined) return;
    this.mishaps += 1;
    this.#survived.add(mishap.name);
    this.#ofNow.set(code, mishap);
    this.#pollsLeft.set(code, 1 + Math.floor(this.#random() * MAX_POLLS));
    await mishap.make(this.#service.breakable(code));
  }

  async #mend(code: SoakCode): Promise<void> {
    this.#ofNow.delete(code);
    this.#pollsLeft.set(code, this.#pause());
    await this.#service.mend(code);
  }

  /** How many good polls come between two faults. */
  #pause(): number {
    return 1 + Math.floor(this.#random() * 3);
  }
}
