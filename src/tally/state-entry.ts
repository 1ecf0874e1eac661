import { z } from 'zod';
import { LEDGER_COUNTERS, type LedgerCounter } from './family-keys.ts';
import { NUMBERS_PER_PART } from './ledger/part-accounts.ts';
import { ALL_TASK_FLAGS } from './ledger/task-account.ts';

/*
 * The records in which the state of a service code is persisted: JSON arrays, because their keys would take more space
 * than their values. The names of a record are in its key.
 *
 * Times are milliseconds on the clock of {@link Timeline}, unless they are of the wall clock.
 *
 * A change of a record requires a new FORMAT in state/open-database.ts.
 */

const count = z.int().nonnegative();
const total = z.number().nonnegative();
const time = z.number();
/** Of an account. */
const account = [
  z.number().min(-1).describe('base, -1 without a valid value'),
  time.describe('when the base was accepted'),
  z.boolean().describe('has grown'),
  total.describe('rate of its stream in bytes per second, if it is above the setting'),
] as const;
/** As they are in memory: numbers in the usual case. */
const parts = z.union([
  z.array(z.number()).refine(({ length }) => length % NUMBERS_PER_PART === 0),
  z.array(
    z.tuple([
      count.describe('identity'),
      ...account,
      count.describe('connections'),
      time.nullable().describe('when it was last listed, if it has left its task'),
    ]),
  ),
]);

const codeSchema = z.tuple([
  time.describe('of the last good listing'),
  z.number().describe('the same on the wall clock'),
  z.int().positive().describe('number of good listings'),
  z.array(count).describe('lifetimes: counts by bucket, not cumulative'),
  total.describe('lifetimes: sum, in seconds'),
  z.array(z.string()).describe('formats seen with connections'),
  z.array(z.tuple([z.string(), time, z.number()])).describe('servers: vs_id, last seen, on the wall clock'),
]);

const counterSchema = z.array(
  z.tuple([z.array(z.string()), total, time]).describe('labels without the service code, total, last update'),
);

const detailsSchema = z.array(
  z.tuple([
    z.string().describe('task id'),
    total.describe('of its input bytes'),
    z.array(z.tuple([z.string(), total])).describe('outputs: format, total'),
  ]),
);

const taskSchema = z.tuple([
  z.number().describe('first seen, on the wall clock'),
  time.describe('first seen'),
  time.describe('last seen'),
  time.describe('last activity'),
  total.describe('progress'),
  z.enum(['task', 'inputs', '']).describe('source of its input bytes'),
  z.number().min(-1).describe('base of its own input bytes'),
  z
    .tuple([...account])
    .nullable()
    .describe('its own account, if the base was not accepted when it was last seen'),
  total.describe('input bytes that are counted and that no base shows'),
  z.int().min(0).max(ALL_TASK_FLAGS).describe('flags'),
  parts.nullable().describe('inputs'),
  parts.describe('outputs'),
]);

/** What the records hold, by kind. */
export type CodeEntry = z.infer<typeof codeSchema>;
export type CounterEntry = z.infer<typeof counterSchema>;
export type DetailsEntry = z.infer<typeof detailsSchema>;
export type TaskEntry = z.infer<typeof taskSchema>;

/** A record of a tally: its key, without the service code, and its value; `undefined` deletes it. */
export type StateChange = readonly [key: string, value: string | undefined];

/** Sorts before the other keys, so that it is restored first. */
export const CODE_KEY = 'code';
export const DETAILS_KEY = 'details';

export function toCounterKey(counter: LedgerCounter): string {
  return `counter\0${counter}`;
}

/** Server names are label values and hold no control characters; ids may. */
export function toTaskKey({ vsId, id }: { readonly vsId: string; readonly id: string }): string {
  return `task\0${vsId}\0${id}`;
}

/** A record that was read. */
export type StateEntry =
  | { readonly kind: 'code'; readonly entry: CodeEntry }
  | { readonly kind: 'counter'; readonly counter: LedgerCounter; readonly entry: CounterEntry }
  | { readonly kind: 'details'; readonly entry: DetailsEntry }
  | { readonly kind: 'task'; readonly vsId: string; readonly id: string; readonly entry: TaskEntry };

/** Parses a record; `undefined` if it is invalid. */
export function parseStateEntry(key: string, value: string): StateEntry | undefined {
  const [kind = '', name = '', ...rest] = key.split('\0');
  const raw = parseJson(value);
  switch (kind) {
    case CODE_KEY: {
      const entry = codeSchema.safeParse(raw).data;
      return entry && { kind, entry };
    }
    case 'counter': {
      const counter = LEDGER_COUNTERS.find((one) => one === name);
      const entry = counterSchema.safeParse(raw).data;
      return counter && entry && { kind, counter, entry };
    }
    case DETAILS_KEY: {
      const entry = detailsSchema.safeParse(raw).data;
      return entry && { kind, entry };
    }
    case 'task': {
      const entry = taskSchema.safeParse(raw).data;
      return entry && { kind, vsId: name, id: rest.join('\0'), entry };
    }
    default:
      return undefined;
  }
}

/** When the last good listing was taken, in wall-clock milliseconds; `undefined` if the first record is not that of the code. */
export function readLastListingMs([first]: readonly (readonly [key: string, value: string])[]):
  number | undefined {
  const read = first && parseStateEntry(...first);
  return read?.kind === 'code' ? read.entry[1] : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
