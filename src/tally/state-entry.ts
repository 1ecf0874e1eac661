import { z } from 'zod';
import { CELLS } from './known-task.ts';
import { LEDGER_COUNTERS } from './ledger.ts';

/*
 * The units in which the state of a tally is kept: a line of JSON each, a list that begins with what it is. Moments
 * of the monotonic clock mean nothing to another process: they are kept as ages at the last good listing, in
 * milliseconds.
 *
 * Whoever changes what a unit is or means counts up the version of the state file.
 */

const count = z.int().nonnegative();
const labels = z.array(z.string());
/** The number of an `instant`, counted from 0 in the order in which they come. */
const instant = count;

/** Every kind of unit: [its name, …]. `code` comes first and begins a service code. */
const UNITS = {
  code: z.tuple([
    z.literal('code'),
    z.string().describe('service code'),
    z.number().describe('when the last good listing was, in wall-clock milliseconds'),
    z.int().positive().describe('good listings so far'),
    z.number().describe('when the first one was, in seconds'),
  ]),
  counter: z.tuple([
    z.literal('counter'),
    z.enum(LEDGER_COUNTERS),
    labels.describe('without the service code'),
    z.number().nonnegative().describe('total'),
    z.number().describe('created, in seconds'),
    z.number().describe('age of its last use'),
  ]),
  lifetimes: z.tuple([
    z.literal('lifetimes'),
    z.array(count).describe('counts by bucket, not cumulative'),
    z.number().nonnegative().describe('sum, in seconds'),
  ]),
  instant: z.tuple([
    z.literal('instant'),
    z.number().describe('wall-clock milliseconds'),
    z.number().describe('age'),
  ]),
  server: z.tuple([z.literal('server'), z.string().describe('vs_id'), instant.describe('last seen')]),
  task: z.tuple([
    z.literal('task'),
    z.string().describe('id'),
    z.string().describe('vs_id'),
    z.number().describe('last value of its input bytes'),
    z.enum(['task', 'inputs', '']).describe('where that was read'),
    count.describe('number of the last good listing that held it'),
    instant.describe('first seen'),
    instant.describe('last flow'),
    z.int().min(0).max(7).describe('1 has flowed, 2 is stalled, 4 is from the baseline'),
    z
      .array(z.number())
      .refine((cells) => cells.length % CELLS === 0)
      .describe('outputs: identity, bytes, number of the last good listing that held it'),
  ]),
  detail: z.tuple([
    z.literal('detail'),
    z.string().describe('task id'),
    z.number().nonnegative().describe('total of its input bytes'),
    z.number().describe('created, in seconds'),
    z
      .array(z.tuple([z.string(), z.number().nonnegative(), z.number()]))
      .describe('outputs: format, total, created'),
  ]),
} as const;

type UnitKind = keyof typeof UNITS;

/** One piece of what is kept of a tally. */
export type StateUnit = { [K in UnitKind]: z.infer<(typeof UNITS)[K]> }[UnitKind];

/** The unit that a value of JSON is; `undefined` if it is none. */
export function parseStateUnit(raw: unknown): StateUnit | undefined {
  const kind: unknown = Array.isArray(raw) ? raw[0] : undefined;
  if (typeof kind !== 'string' || !isUnitKind(kind)) return undefined;
  return UNITS[kind].safeParse(raw).data;
}

function isUnitKind(kind: string): kind is UnitKind {
  return Object.hasOwn(UNITS, kind);
}
