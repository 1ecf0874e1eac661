import { z } from 'zod';
import { LEDGER_COUNTERS } from './family-keys.ts';
import { NUMBERS_PER_DEPARTED_PART, NUMBERS_PER_PART } from './ledger/part-accounts.ts';
import { ALL_TASK_FLAGS } from './ledger/task-account.ts';

/*
 * The entries in which the state of a tally is persisted: one line of JSON each, an array that begins with its kind.
 * Monotonic times mean nothing to another process, so they are persisted as ages at the last good listing, in
 * milliseconds.
 *
 * A change of an entry requires a new FORMAT_VERSION in state/format.ts.
 */

const count = z.int().nonnegative();
const labels = z.array(z.string());
/** The number of an `instant` entry, in their order from 1 on; 0 is the last good listing. */
const instant = count;
const total = z.number().nonnegative();
const taskDetail = [
  z.string().describe('task id'),
  total.describe('total of its input bytes'),
  z.array(z.tuple([z.string(), total])).describe('outputs: format, total'),
] as const;
const parts = (numbersPerPart: number) =>
  z.array(z.number()).refine((numbers) => numbers.length % numbersPerPart === 0);

/** Every kind of entry. `code` comes first and begins a service code. */
const ENTRY_SCHEMAS = {
  code: z.tuple([
    z.literal('code'),
    z.string().describe('service code'),
    z.number().describe('time of the last good listing, in wall-clock milliseconds'),
    z.int().positive().describe('number of good listings'),
  ]),
  counter: z.tuple([
    z.literal('counter'),
    z.enum(LEDGER_COUNTERS),
    labels.describe('without the service code'),
    z.number().nonnegative().describe('total'),
    z.number().describe('age of its last update'),
  ]),
  lifetimes: z.tuple([
    z.literal('lifetimes'),
    z.array(count).describe('counts by bucket, not cumulative'),
    z.number().nonnegative().describe('sum, in seconds'),
  ]),
  metered: z.tuple([z.literal('metered'), z.array(z.string()).describe('formats seen with connections')]),
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
    instant.describe('first seen'),
    instant.describe('last seen'),
    instant.describe('last activity'),
    z.number().nonnegative().describe('progress'),
    z.enum(['task', 'inputs', '']).describe('source of its input bytes'),
    z.number().nonnegative().describe('last input bytes of the task itself'),
    z.number().nonnegative().describe('input bytes accounted for'),
    z.int().min(0).max(ALL_TASK_FLAGS).describe('flags'),
    parts(NUMBERS_PER_PART).describe('outputs'),
  ]),
  // Follows its task.
  rare: z.tuple([
    z.literal('rare'),
    parts(NUMBERS_PER_PART).describe('inputs'),
    parts(NUMBERS_PER_DEPARTED_PART).describe('departed inputs, with ages'),
    parts(NUMBERS_PER_DEPARTED_PART).describe('departed outputs, with ages'),
  ]),
  detail: z.tuple([z.literal('detail'), ...taskDetail]),
  // Totals published after a later listing: they advance those of the entries before, if there are any.
  totals: z.tuple([
    z.literal('totals'),
    z.string().describe('service code'),
    z.number().describe('time of the listing, in wall-clock milliseconds'),
    z.int().positive().describe('number of good listings'),
    z
      .array(z.tuple([z.enum(LEDGER_COUNTERS), labels, total]))
      .describe('counter, labels without the service code, total'),
    z.array(count).describe('lifetimes: counts by bucket, not cumulative'),
    total.describe('lifetimes: sum, in seconds'),
    z.array(z.tuple([...taskDetail])).describe('details of tasks'),
  ]),
} as const;

type EntryKind = keyof typeof ENTRY_SCHEMAS;

/** One piece of the persisted state of a tally. */
export type StateEntry = { [K in EntryKind]: z.infer<(typeof ENTRY_SCHEMAS)[K]> }[EntryKind];

/** An entry of one kind. */
export type StateEntryOf<Kind extends EntryKind> = z.infer<(typeof ENTRY_SCHEMAS)[Kind]>;

/** Parses a JSON value; `undefined` if it is not an entry. */
export function parseStateEntry(raw: unknown): StateEntry | undefined {
  const kind: unknown = Array.isArray(raw) ? raw[0] : undefined;
  if (typeof kind !== 'string' || !isEntryKind(kind)) return undefined;
  return ENTRY_SCHEMAS[kind].safeParse(raw).data;
}

function isEntryKind(kind: string): kind is EntryKind {
  return Object.hasOwn(ENTRY_SCHEMAS, kind);
}
