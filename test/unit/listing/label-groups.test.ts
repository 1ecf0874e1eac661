import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counter, gauge, input, stream, task, user } from '../../../src/listing/label-group.ts';
import { familiesOf, LABEL_GROUP_NAMES } from '../../../src/listing/label-groups.ts';
import { TextRows } from '../../../src/listing/rows.ts';
import { AccountBudget } from '../../../src/tally/account-budget.ts';
import { Tally } from '../../../src/tally/tally.ts';
import { createReaderPool, readInChunks } from '../../support/read-listing.ts';
import { readSamples } from '../../support/tally-run.ts';

const FAMILIES = { wrong: gauge('xvs_wrong', 'Wrong') };
const COUNTERS = { wrong: counter('xvs_wrong_total', 'Wrong') };
const ONE = { wrong: 1 } as const;

test('wrong rows of the table are type errors', () => {
  // @ts-expect-error no such column
  user({ vs_id: 'vsId' }, FAMILIES, ONE);
  // @ts-expect-error a number is no label
  input({ bytes: 'input_bytes' }, FAMILIES, ONE);
  // @ts-expect-error a user is in no task
  user({ vs_id: { ofTask: 'vs_id' } }, FAMILIES, ONE);
  // @ts-expect-error a task has no such column
  stream({ format: { ofTask: 'format' } }, FAMILIES, ONE);
  // @ts-expect-error columns that the record lacks
  task({ version: { firstOf: ['device_version', 'client_version'] } }, FAMILIES, ONE);
  // @ts-expect-error a label is no number
  stream({ codec: { enumeration: 'codec_id', names: ['h264'] } }, FAMILIES, ONE);
  // @ts-expect-error a family without its amount
  user({ vs_id: 'vs_id' }, { ...FAMILIES, omitted: gauge('xvs_omitted', 'Omitted') }, ONE);
  // @ts-expect-error the ledger adds up counters only
  user({ vs_id: 'vs_id' }, FAMILIES, { wrong: 'ledger' });
  // @ts-expect-error a listing has no increase
  user({ vs_id: 'vs_id' }, COUNTERS, ONE);
  // @ts-expect-error no such number
  stream({}, FAMILIES, { wrong: { sumOf: 'http_connections_num' } });
  // @ts-expect-error a label is no number
  stream({}, FAMILIES, { wrong: { countOf: 'codec_id', where: '> 0' } });
  // @ts-expect-error a row without the number of a family
  new TextRows('listing').set({ listingUsers: 1 });
});

const STREAMS = [{ codec_type: 0, codec_id: 1, copy: 0, width: 2, height: 2, bit_rate: 3 }];
const OUTPUT = { format: 'flv', tag: 't', width: 2, height: 2, http_connections_num: 9, streams: STREAMS };

/** Tasks that flow, merge, stall, have no input, read a file, begin again, leave, are new, and are wrong. */
const createTasks = (round: number): object[] => [
  {
    id: 'a',
    opaque: 'main',
    vs_id: 's',
    input_bytes: round,
    inputs: [{}],
    outputs: [{ ...OUTPUT, http_output_bytes: round }],
  },
  { id: 'b', vs_id: 's', inputs: [{}, {}], outputs: [{ ...OUTPUT, http_connections_num: 0 }] },
  { id: 'c', vs_id: 's', input_bytes: Math.min(round, 2) },
  { id: 'd', vs_id: 's', input_bytes: 0 },
  ...(round === 5 ? [{ id: 'late', input_bytes: 1e15 }, { id: 'later' }, { id: 'latest' }] : []),
  { id: 'e', vs_id: 's', progress: 5 },
  { id: 'f', vs_id: 's', input_bytes: round < 3 ? 1e6 : round },
  ...(round === 1 ? [{ id: 'left' }] : []),
  ...(round === 2
    ? [{ id: 'new', progress: -1 }, {}, { id: 'foreign', service_code: 'other', vs_id: 't' }]
    : []),
];

test('every family of the table is fed by a rich listing', () => {
  const accountBudget = new AccountBudget(10);
  const tally = new Tally({
    serviceCode: 'TESTING',
    maxLabelSets: 1,
    maxStreamRate: 12.5e6,
    stallAfterMs: 1,
    pollIntervalMs: 15_000,
    perTask: true,
    maxTasks: 10,
    accountBudget,
  });
  tally.expectation = { tasks: 1, names: ['main'] };
  accountBudget.add(tally.accountShare);
  const pool = createReaderPool({ maxParts: 1 });
  const users = [{ vs_id: 's' }, { vs_id: 't' }];
  const fed = new Set<string>();
  for (let round = 1; round <= 6; round += 1) {
    const body = JSON.stringify({ ret: 0, user_list: users, task_list: createTasks(round) });
    const listing = readInChunks(Buffer.from(body), [], pool, { taskName: 'opaque' });
    const at = { wallMs: 1000 * round, monotonicMs: 15_000 * round };
    const { snapshot } = tally.commit(listing, at);
    for (const family of LABEL_GROUP_NAMES.flatMap((group) => familiesOf(group)))
      if (readSamples(snapshot, family).some(({ value }) => value > 0)) fed.add(family);
  }
  // Nothing is lost.
  const groups = LABEL_GROUP_NAMES.filter((name) => !/[lL]osses|Stops/.test(name));
  const missing = groups.flatMap((group) => familiesOf(group)).filter((key) => !fed.has(key));
  assert.deepEqual(missing, []);
});
