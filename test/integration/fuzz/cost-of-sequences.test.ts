import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AccountBudget } from '../../../src/tally/account-budget.ts';
import { Tally } from '../../../src/tally/tally.ts';
import { MAX_COST_RATIO } from '../../support/cost-ratio.ts';
import { POLLED_CODE, readInChunks } from '../../support/read-listing.ts';
import { createRunParameters } from '../../support/run-parameters.ts';

const LISTINGS = 500;
/** The last ones, when the state of the code has grown. */
const MEASURED_PART = 1 / 10;
const INTERVAL_MS = 15_000;
/** Small beside the listings: an ordinary one fills the tables, too. */
const MAX_LABEL_SETS = 40;
/** Departed accounts fill the budget before listings are measured. */
const BUDGETED_PART = 1 / 5;

/** A departed part for each one, and objects in place of numbers, which take less text. */
const MAX_RECORD_RATIO = 12;

/** What a listing says of each of its tasks, outputs and users, and can be another in each listing. */
const FIELDS = ['id', 'vs_id', 'opaque', 'url', 'format', 'file_name', 'tag', 'version', 'codec'] as const;
type Field = (typeof FIELDS)[number];

interface Shape {
  readonly tasks: number;
  /** Of each task. */
  readonly inputs: number;
  readonly outputs: number;
  readonly users: number;
}

/** Creates the body of a listing of which some fields have values of its generation. */
function createBody(
  { tasks, inputs, outputs, users }: Shape,
  changing: readonly Field[],
  generation: number,
): Buffer {
  const suffixes = new Map(changing.map((field) => [field, generation]));
  const toText = (field: Field, item: number): string => `${field}-${item}-${suffixes.get(field) ?? 1000}`;
  const list = <T>(length: number, create: (index: number) => T): T[] =>
    Array.from({ length }, (_, index) => create(index));
  const bytes = 1000 * generation;
  const task_list = list(tasks, (task) => ({
    id: toText('id', task),
    vs_id: toText('vs_id', task),
    opaque: toText('opaque', task),
    inputs: list(inputs, (input) => ({
      url: `rtmp://${toText('url', input)}/`,
      input_bytes: bytes,
      device_version: toText('version', input),
    })),
    ...(inputs === 0 && { input_bytes: bytes }),
    outputs: list(outputs, (output) => ({
      file_name: toText('file_name', output),
      format: toText('format', output),
      tag: toText('tag', output),
      video_codec_name: toText('codec', output),
      http_output_bytes: bytes,
      http_connections_num: 1,
      streams: [],
    })),
  }));
  const user_list = list(users, (user) => ({
    vs_id: toText('vs_id', user),
    client_version: toText('version', user),
    device_type: '10',
  }));
  return Buffer.from(JSON.stringify({ ret: 0, user_list, task_list }));
}

/** A service code, and what reading, committing and writing its listings has cost. */
class CostlyCode {
  cpuMs = 0;
  /** Of the state, which a restart reads. */
  longestRecord = 0;
  readonly #tally: Tally;

  constructor(maxAccounts: number) {
    const accountBudget = new AccountBudget(maxAccounts);
    this.#tally = new Tally({
      serviceCode: POLLED_CODE,
      maxLabelSets: MAX_LABEL_SETS,
      maxStreamRate: 12.5e6,
      stallAfterMs: 60_000,
      pollIntervalMs: INTERVAL_MS,
      perTask: true,
      maxTasks: MAX_LABEL_SETS,
      accountBudget,
    });
    accountBudget.add(this.#tally.accountShare);
  }

  poll(body: Buffer, monotonicMs: number): void {
    const start = process.cpuUsage();
    const listing = readInChunks(body, [], undefined, { taskName: 'opaque' });
    const { records } = this.#tally.commit(listing, { wallMs: monotonicMs, monotonicMs });
    for (const [, record = ''] of records.listChanges())
      this.longestRecord = Math.max(this.longestRecord, record.length);
    const { user, system } = process.cpuUsage(start);
    this.cpuMs += (user + system) / 1000;
  }
}

interface Sequence {
  readonly shape: Shape;
  readonly changing: readonly Field[];
}

/** Polls a sequence, and beside its last listings those of the same size in which only byte counts change. */
function poll({ shape, changing }: Sequence): { readonly code: CostlyCode; readonly ordinary: CostlyCode } {
  const { tasks, inputs, outputs } = shape;
  const maxAccounts = Math.ceil(BUDGETED_PART * LISTINGS) * tasks * (Math.max(1, inputs) + outputs);
  const [code, ordinary] = [new CostlyCode(maxAccounts), new CostlyCode(maxAccounts)];
  const firstMeasured = (1 - MEASURED_PART) * LISTINGS;
  for (let number = 0; number < LISTINGS; number += 1) {
    const take = (polled: CostlyCode, fields: readonly Field[]): void =>
      polled.poll(createBody(shape, fields, 1000 + number), INTERVAL_MS * number);
    if (number === firstMeasured) code.cpuMs = 0;
    take(code, changing);
    if (number >= firstMeasured) take(ordinary, []);
  }
  return { code, ordinary };
}

/** Each is long for its kind: the tables and a task have a size of their own. */
const NEW_TASKS: Shape = { tasks: 200, inputs: 0, outputs: 0, users: 0 };
const ALL_KINDS: Shape = { tasks: 10, inputs: 2, outputs: 5, users: 100 };
const PARTS: readonly Shape[] = [
  { tasks: 100, inputs: 0, outputs: 1, users: 0 },
  { tasks: 1, inputs: 0, outputs: 200, users: 0 },
  { tasks: 1, inputs: 200, outputs: 0, users: 0 },
];

const arbitrarySequence: fc.Arbitrary<Sequence> = fc.record({
  shape: fc.constantFrom(NEW_TASKS, ALL_KINDS, ...PARTS),
  changing: fc.subarray([...FIELDS], { minLength: 1 }),
});

/** The accounts of parts once filled the budget. */
const KNOWN: readonly Sequence[] = [
  { shape: NEW_TASKS, changing: FIELDS },
  { shape: ALL_KINDS, changing: FIELDS },
  ...PARTS.map((shape): Sequence => ({ shape, changing: ['format', 'file_name', 'url'] })),
];

test(`any sequence of ${LISTINGS} listings costs at most ${MAX_COST_RATIO} times an ordinary one of its size`, (t) => {
  const check = (sequence: Sequence): void => {
    const { code, ordinary } = poll(sequence);
    const ratio = code.cpuMs / ordinary.cpuMs;
    const name = `${ratio.toFixed(1)} times: ${JSON.stringify(sequence)}`;
    t.diagnostic(name);
    assert.ok(ratio <= MAX_COST_RATIO, name);
    const recordRatio = code.longestRecord / ordinary.longestRecord;
    assert.ok(
      recordRatio <= MAX_RECORD_RATIO,
      `a record of ${recordRatio.toFixed(1)} times the length: ${name}`,
    );
  };
  for (const known of KNOWN) check(known);
  fc.assert(fc.property(arbitrarySequence, check), createRunParameters(3));
});
