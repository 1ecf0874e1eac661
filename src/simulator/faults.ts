import { z } from 'zod';
import type { Clock } from '../clock.ts';
import type { Freeze } from './freeze.ts';

/** The service code that a fault is for; all of them if absent. */
const scope = { serviceCode: z.string().min(1).optional() };

/**
 * The faults that can be switched on.
 *
 * - `refuse` closes the connection without an answer; `reset_headers` resets it (TCP RST) without an answer.
 * - `silence` never answers.
 * - `reset_body` and `silence_body` send the headers and a part of the body, then reset the connection, or send nothing more.
 * - `drip` sends the body at one byte per second.
 * - `truncate` ends the body early, but as HTTP sees it, properly.
 * - `http_status` answers with a status, and `Retry-After` if wanted; `redirect` with 302.
 * - `ret` answers with another `ret` and no entries; `html` with a page; `empty` with no body.
 * - `bad_gzip` declares plain text as gzip.
 * - `bad_list` leaves a list out, or puts something else in its place.
 * - `bad_record` spoils every n-th user and task.
 * - `huge` puts white space in front of the listing: `bytes` of it, or without end.
 * - `clock_skew` sets the service's clock wrong by so many milliseconds: beyond its tolerance it refuses every call.
 * - `freeze_ingest` lets a task, or all of them, stand still: nothing is received or delivered until it is cleared.
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
  z.strictObject({ fault: z.literal('bad_record'), every: z.int().positive().default(2), ...scope }),
  z.strictObject({ fault: z.literal('huge'), bytes: z.int().positive().optional(), ...scope }),
  z.strictObject({ fault: z.literal('clock_skew'), ms: z.int(), ...scope }),
  z.strictObject({ fault: z.literal('freeze_ingest'), taskId: z.string().min(1).optional(), ...scope }),
]);

/** A fault as it is asked for: parameters that have a default may be left out. */
export type FaultRequest = z.input<typeof faultSchema>;
/** A fault with all its parameters. */
type Fault = z.output<typeof faultSchema>;
/** A fault that changes how a call is answered. */
export type ResponseFault = Exclude<Fault, { fault: 'freeze_ingest' }>;

/** Which faults are switched on. */
export interface FaultBoard {
  /**
   * Switches a fault on. Of those that change the answer, a service code has one at a time: the last one set for it,
   * or else the last one set for all. `freeze_ingest` goes beside them.
   */
  set(fault: FaultRequest): void;
  /** Switches the faults of a service code off, or, without one, all faults. */
  clear(serviceCode?: string): void;
  active(): readonly Fault[];
  /** How to answer a call wrongly, if at all; the service code is absent where the call named none. */
  responseFault(serviceCode: string | undefined): ResponseFault | undefined;
  /** All freezes so far, in order of their start: what has passed counts for what a task has received since. */
  freezes(): readonly Freeze[];
}

interface Switched<F extends Fault> {
  readonly fault: F;
  readonly sinceMs: number;
}

type FreezeFault = Extract<Fault, { fault: 'freeze_ingest' }>;

/** Creates a board with nothing switched on. */
export function createFaultBoard(clock: Clock): FaultBoard {
  const responses = new Map<string | undefined, ResponseFault>();
  const frozen = new Map<string, Switched<FreezeFault>>();
  const thawed: Freeze[] = [];
  const freeze = (fault: FreezeFault): void => {
    const key = JSON.stringify([fault.serviceCode, fault.taskId]);
    if (!frozen.has(key)) frozen.set(key, { fault, sinceMs: clock.now() });
  };
  const thaw = (key: string, switched: Switched<FreezeFault>): void => {
    frozen.delete(key);
    thawed.push(intervalOf(switched, clock.now()));
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
      for (const [key, switched] of frozen) {
        if ((serviceCode ?? switched.fault.serviceCode) === switched.fault.serviceCode) thaw(key, switched);
      }
    },
    active: () => [...responses.values(), ...[...frozen.values()].map(({ fault }) => fault)],
    responseFault: (serviceCode) => responses.get(serviceCode) ?? responses.get(undefined),
    freezes: () =>
      [...thawed, ...[...frozen.values()].map((switched) => intervalOf(switched, Infinity))].toSorted(
        (one, other) => one.fromMs - other.fromMs,
      ),
  };
}

function intervalOf({ fault, sinceMs }: Switched<FreezeFault>, toMs: number): Freeze {
  return { serviceCode: fault.serviceCode, taskId: fault.taskId, fromMs: sinceMs, toMs };
}
