import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { parseServiceCode } from '../simulator/authentication.ts';
import { ScriptedExporter } from './scripted-exporter.ts';
import { selectSeries } from '../support/series.ts';

/** Unusual but valid listings, and the series that they must result in. */
interface UnusualListing {
  readonly name: string;
  /** Response bodies in order; the last one is sent twice, because a new series is exposed at 0 first. */
  readonly bodies: readonly string[];
  /** Sum over a family at the end; a second word of the key selects series by their text. */
  readonly sums: Readonly<Record<string, number>>;
}

/** Writes a task as JSON; `fields` adds or replaces fields by their text. */
function task(id: string, fields: Readonly<Record<string, string>> = {}): string {
  const all = { id: JSON.stringify(id), vs_id: '"s1"', inputs: '[]', outputs: '[]', ...fields };
  return `{${Object.entries(all)
    .map(([key, text]) => `"${key}":${text}`)
    .join(',')}}`;
}

function listing(tasks: readonly string[], users: readonly string[] = []): string {
  return `{"ret":0,"user_list":[${users.join(',')}],"task_list":[${tasks.join(',')}]}`;
}

const REJECTED = 'xvs_exporter_invalid_records_total';
const INVALID_FIELDS = 'xvs_exporter_invalid_fields_total';
const FOREIGN = 'xvs_exporter_foreign_records_total';
const INPUT = 'xvs_input_bytes_total';

const CASES: readonly UnusualListing[] = [
  {
    name: 'of a task that is listed twice, the larger byte count stands, and the other entry is reported',
    bodies: [
      listing([task('a', { input_bytes: '100' }), task('a', { input_bytes: '7' })]),
      listing([
        task('a', { input_bytes: '130' }),
        task('b', { input_bytes: '5' }),
        task('a', { input_bytes: '900' }),
      ]),
    ],
    sums: { xvs_tasks: 2, [INPUT]: 805, xvs_byte_count_resets_total: 0, [`${REJECTED} duplicate_id`]: 3 },
  },
  ...['9007199254740992', '1e400', '-1'].map((number): UnusualListing => ({
    name: `input_bytes ${number} counts as missing once; the account of the task resumes`,
    bodies: [
      listing([task('a', { input_bytes: '5' }), task('b', { input_bytes: '1' })]),
      listing([task('a', { input_bytes: number }), task('b', { input_bytes: '4' })]),
      listing([task('a', { input_bytes: '9' }), task('b', { input_bytes: '6' })]),
    ],
    sums: {
      [INPUT]: 9,
      xvs_tasks: 2,
      [`${INVALID_FIELDS} record="task",field="input_bytes"`]: 1,
      [REJECTED]: 0,
      xvs_byte_count_resets_total: 0,
    },
  })),
  {
    name: 'entries that are not objects and tasks without an id are rejected and counted',
    bodies: [
      listing(
        ['null', '1', '"a"', '[]', 'true', '{}', '{"id":""}', task('a')],
        ['null', '1', '"a"', '[]', 'true', '{}'],
      ),
    ],
    sums: {
      xvs_tasks: 1,
      xvs_online_users: 1,
      [`${REJECTED} record="task"`]: 14,
      [`${REJECTED} record="user"`]: 10,
    },
  },
  {
    name: 'records of another service code are kept and counted',
    bodies: [
      listing([task('a', { service_code: '"OTHER"' }), task('b')], ['{"service_code":"OTHER"}', '{}']),
    ],
    sums: {
      xvs_tasks: 2,
      xvs_online_users: 2,
      [`${FOREIGN} record="task"`]: 2,
      [`${FOREIGN} record="user"`]: 2,
      [INVALID_FIELDS]: 0,
    },
  },
];

const bodies = new Map(CASES.map(({ bodies: all }, index) => [`ROW_${index}`, all]));
const STEPS = Math.max(...[...bodies.values()].map((all) => all.length)) + 2;
let step = 0;
let exporter: ScriptedExporter;

before(async () => {
  exporter = await ScriptedExporter.start({
    serviceCodes: [...bodies.keys()],
    server: createServer((request, response) => {
      const all = bodies.get(parseServiceCode(request.url?.split('?')[1] ?? '') ?? '') ?? [];
      // Cases with fewer bodies start later, so that all end at the same time with the last body sent twice.
      const first = STEPS - all.length - 1;
      response.end(all[Math.min(step - first, all.length - 1)] ?? '{"ret":1}');
    }),
  });
  for (step = 0; step < STEPS; step += 1) await exporter.poll();
});

after(async () => {
  await exporter[Symbol.asyncDispose]();
});

for (const [index, { name, sums }] of CASES.entries()) {
  test(name, async () => {
    const series = await exporter.read();
    const code = `ROW_${index}`;
    assert.equal(series.get(`xvs_up{service_code="${code}"}`), 1);
    for (const [key, expected] of Object.entries(sums)) {
      const [family = '', label = ''] = key.split(' ');
      const matching = [...selectSeries(series, `${family}{`, code)].filter(([one]) => one.includes(label));
      assert.equal(
        matching.reduce((sum, [, value]) => sum + value, 0),
        expected,
        key,
      );
    }
  });
}
