import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Clock } from '../../src/runtime/clock.ts';
import type { Freeze } from './freeze.ts';

/** The service code that a fault applies to; all service codes if absent. */
const scope = { serviceCode: z.string().min(1).optional() };

/** The faults of the service; the usage of the simulator explains them. */
export const faultSchema = z.discriminatedUnion('fault', [
  z.strictObject({
    fault: z.literal([
      'refuse',
      'reset_headers',
      'reset_body',
      'silence',
      'silence_body',
      'drip',
      'truncate',
      'html',
      'empty',
      'bad_gzip',
    ]),
    ...scope,
  }),
  z.strictObject({
    fault: z.literal('http_status'),
    status: z.int().min(200).max(599),
    retryAfter: z.string().optional(),
    body: z.enum(['json', 'html']).default('json'),
    ...scope,
  }),
  z.strictObject({ fault: z.literal('redirect'), location: z.string().default('/elsewhere'), ...scope }),
  z.strictObject({ fault: z.literal('ret'), value: z.union([z.int(), z.string()]), ...scope }),
  z.strictObject({
    fault: z.literal('bad_list'),
    list: z.enum(['user_list', 'task_list']),
    form: z.enum(['missing', 'null', 'object']).default('missing'),
    ...scope,
  }),
  z.strictObject({
    fault: z.literal(['bad_record', 'bad_field']),
    every: z.int().positive().default(2),
    ...scope,
  }),
  z.strictObject({ fault: z.literal('huge'), bytes: z.int().positive().optional(), ...scope }),
  z.strictObject({ fault: z.literal('clock_skew'), ms: z.int(), ...scope }),
  z.strictObject({
    fault: z.literal(['freeze_ingest', 'slow_ingest']),
    taskId: z.string().min(1).optional(),
    name: z.string().min(1).optional(),
    ...scope,
  }),
]);

/** A fault as requested: parameters with a default are optional. */
export type FaultRequest = z.input<typeof faultSchema>;
/** A fault with all its parameters. */
type Fault = z.output<typeof faultSchema>;
/** A fault that changes the response to a request. */
export type ResponseFault = Exclude<Fault, FreezeFault>;

type FreezeFault = Extract<Fault, { fault: Freeze['fault'] }>;

/** The active faults, and all freezes. */
export class FaultRegistry {
  readonly #clock: Clock;
  readonly #responseFaults = new Map<string | undefined, ResponseFault>();
  /** In order of their start. */
  #freezes: readonly (FreezeFault & Freeze)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Activates a fault. A service code has one response fault at a time: the last one set for it, or else the
   * last one set for all. Freezes are independent of it.
   */
  set(request: FaultRequest): void {
    const fault = faultSchema.parse(request);
    if (!isFreeze(fault)) this.#responseFaults.set(fault.serviceCode, fault);
    else if (!this.listActive().some((active) => isDeepStrictEqual(active, fault)))
      this.#freezes = [...this.#freezes, { ...fault, fromMs: this.#clock.now(), toMs: Infinity }];
  }

  /** Clears the faults of a service code, or all faults. */
  clear(serviceCode?: string): void {
    if (serviceCode === undefined) this.#responseFaults.clear();
    else this.#responseFaults.delete(serviceCode);
    const nowMs = this.#clock.now();
    this.#freezes = this.#freezes.map((freeze) =>
      (serviceCode ?? freeze.serviceCode) === freeze.serviceCode
        ? { ...freeze, toMs: Math.min(freeze.toMs, nowMs) }
        : freeze,
    );
  }

  listActive(): readonly Fault[] {
    const freezes = this.#freezes.filter(({ toMs }) => toMs === Infinity);
    return [
      ...this.#responseFaults.values(),
      ...freezes.map(({ fromMs: _from, toMs: _to, ...fault }) => fault),
    ];
  }

  /** Returns the fault for a request, if any. The service code is `undefined` if the request has none. */
  getResponseFault(serviceCode: string | undefined): ResponseFault | undefined {
    return this.#responseFaults.get(serviceCode) ?? this.#responseFaults.get(undefined);
  }

  /** Lists all freezes in order of their start. Past ones still reduce the byte counts of a task. */
  listFreezes(): readonly Freeze[] {
    return this.#freezes;
  }
}

function isFreeze(fault: Fault): fault is FreezeFault {
  return fault.fault === 'freeze_ingest' || fault.fault === 'slow_ingest';
}
