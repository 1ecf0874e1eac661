import { z } from 'zod';
import type { Clock } from '../runtime/clock.ts';
import type { Freeze } from './freeze.ts';

/** The service code that a fault applies to; all service codes if absent. */
const scope = { serviceCode: z.string().min(1).optional() };

/**
 * The faults of the service.
 *
 * - `refuse` closes the connection without a response; `reset_headers` resets it (TCP RST).
 * - `silence` never responds.
 * - `reset_body` and `silence_body` send the headers and a part of the body, then reset the connection, or stop sending.
 * - `drip` sends the body at one byte per second.
 * - `truncate` ends the body early, with correct HTTP framing.
 * - `http_status` responds with a status and an optional `Retry-After`; `redirect` with 302.
 * - `ret` responds with a `ret` and no entries; `html` with a page; `empty` with no body.
 * - `bad_gzip` declares plain text as gzip.
 * - `bad_list` removes a list, or replaces it with `null` or an object.
 * - `bad_record` corrupts every n-th user and task; `bad_field` gives one of its fields a wrong type.
 * - `huge` sends white space before the listing: `bytes` of it, or without end.
 * - `clock_skew` sets the service's clock wrong by `ms`; beyond the tolerance the service rejects every request.
 * - `freeze_ingest` stops all tasks, one, or those of a name: they receive and deliver nothing until the fault is cleared.
 */
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
    fault: z.literal('freeze_ingest'),
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
export type ResponseFault = Exclude<Fault, { fault: 'freeze_ingest' }>;

/** The active faults. */
export interface FaultRegistry {
  /**
   * Activates a fault. A service code has one response fault at a time: the last one set for it, or else the last one
   * set for all. `freeze_ingest` is independent of it.
   */
  set(fault: FaultRequest): void;
  /** Clears the faults of a service code, or all faults. */
  clear(serviceCode?: string): void;
  listActive(): readonly Fault[];
  /** Returns the fault for a request, if any. The service code is `undefined` if the request has none. */
  getResponseFault(serviceCode: string | undefined): ResponseFault | undefined;
  /** Lists all freezes in order of their start. Past ones still reduce the byte counts of a task. */
  listFreezes(): readonly Freeze[];
}

interface ActiveFault<F extends Fault> {
  readonly fault: F;
  readonly sinceMs: number;
}

type FreezeFault = Extract<Fault, { fault: 'freeze_ingest' }>;

/** Creates a registry without active faults. */
export function createFaultRegistry(clock: Clock): FaultRegistry {
  const responses = new Map<string | undefined, ResponseFault>();
  const activeFreezes = new Map<string, ActiveFault<FreezeFault>>();
  const pastFreezes: Freeze[] = [];
  const freeze = (fault: FreezeFault): void => {
    const key = JSON.stringify([fault.serviceCode, fault.taskId, fault.name]);
    if (!activeFreezes.has(key)) activeFreezes.set(key, { fault, sinceMs: clock.now() });
  };
  const thaw = (key: string, active: ActiveFault<FreezeFault>): void => {
    activeFreezes.delete(key);
    pastFreezes.push(toFreeze(active, clock.now()));
  };
  return {
    set: (request) => {
      const fault = faultSchema.parse(request);
      if (fault.fault === 'freeze_ingest') freeze(fault);
      else responses.set(fault.serviceCode, fault);
    },
    clear: (serviceCode) => {
      if (serviceCode === undefined) responses.clear();
      else responses.delete(serviceCode);
      for (const [key, active] of activeFreezes) {
        if ((serviceCode ?? active.fault.serviceCode) === active.fault.serviceCode) thaw(key, active);
      }
    },
    listActive: () => [...responses.values(), ...[...activeFreezes.values()].map(({ fault }) => fault)],
    getResponseFault: (serviceCode) => responses.get(serviceCode) ?? responses.get(undefined),
    listFreezes: () =>
      [...pastFreezes, ...[...activeFreezes.values()].map((active) => toFreeze(active, Infinity))].toSorted(
        (one, other) => one.fromMs - other.fromMs,
      ),
  };
}

function toFreeze({ fault, sinceMs }: ActiveFault<FreezeFault>, toMs: number): Freeze {
  const { serviceCode, taskId, name } = fault;
  return { serviceCode, taskId, name, fromMs: sinceMs, toMs };
}
