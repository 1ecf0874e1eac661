import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { serviceCodeOf } from '../../src/simulator/admission.ts';
import { deepArray } from '../support/deep-json.ts';
import { ScriptedExporter } from './scripted-exporter.ts';
import { seriesWith } from './series.ts';

/** Listings that are odd and yet no failure: what comes of them, one after the other, as series that must have a value. */
interface OddCase {
  readonly name: string;
  /** Bodies of the answers; the last one is given twice, so that all that was gained shows. */
  readonly bodies: readonly string[];
  /** Sums over a family at the end, or over those of its series that have a label. */
  readonly sums: Readonly<Record<string, number>>;
}

const MAX = Number.MAX_SAFE_INTEGER;

/** A task as JSON, with fields put in or replaced by their text. */
function task(id: string, fields: Readonly<Record<string, string>> = {}): string {
  const all = { id: JSON.stringify(id), vs_id: '"s1"', inputs: '[]', outputs: '[]', ...fields };
  return `{${Object.entries(all)
    .map(([key, text]) => `"${key}":${text}`)
    .join(',')}}`;
}

function output(bytes: string, more = ''): string {
  return `{"format":"flv","file_name":"f","tag":"t","http_output_bytes":${bytes},"http_connections_num":1,"streams":[]${more}}`;
}

function listing(tasks: readonly string[], users: readonly string[] = [], more = ''): string {
  return `{"ret":0,"user_list":[${users.join(',')}],"task_list":[${tasks.join(',')}]${more}}`;
}

const LEFT_OUT = 'xvs_exporter_invalid_records_total';
const INPUT = 'xvs_input_bytes_total';
const OUTPUT = 'xvs_http_output_bytes_total';

const CASES: readonly OddCase[] = [
  {
    name: 'an id that repeats within a listing counts once, the first time, and is told',
    bodies: [
      listing([task('a', { input_bytes: '100' }), task('a', { input_bytes: '7' })]),
      listing([
        task('a', { input_bytes: '130' }),
        task('b', { input_bytes: '5' }),
        task('a', { input_bytes: '900' }),
      ]),
    ],
    sums: { xvs_tasks: 2, [INPUT]: 35, xvs_byte_count_resets_total: 0, [`${LEFT_OUT} duplicate_id`]: 3 },
  },
  {
    name: 'two outputs alike are one with their sum, in whatever order',
    bodies: [
      listing([task('a', { outputs: `[${output('10')},${output('1000')}]` })]),
      listing([task('a', { outputs: `[${output('1005')},${output('30')}]` })]),
    ],
    sums: { [OUTPUT]: 25, xvs_outputs: 2, xvs_byte_count_resets_total: 0 },
  },
  {
    name: 'a task that changes its server goes on: what it gains is the new one’s, and it neither ended nor started',
    bodies: [
      listing([task('a', { input_bytes: '100' })]),
      listing([task('a', { input_bytes: '160', vs_id: '"s2"' })]),
      listing([task('a', { input_bytes: '200', vs_id: '"s1"' })]),
    ],
    sums: {
      [INPUT]: 100,
      [`${INPUT} vs_id="s1"`]: 40,
      [`${INPUT} vs_id="s2"`]: 60,
      xvs_tasks_started_total: 0,
      xvs_tasks_ended_total: 0,
      'xvs_tasks vs_id="s1"': 1,
      'xvs_tasks vs_id="s2"': 0,
    },
  },
  {
    name: 'a task that leaves for a listing and comes back goes on from its last value',
    bodies: [
      listing([task('a', { input_bytes: '100' })]),
      listing([]),
      listing([task('a', { input_bytes: '140' })]),
    ],
    sums: { [INPUT]: 40, xvs_tasks_started_total: 1, xvs_tasks_ended_total: 1 },
  },
  {
    name: 'a value that shrinks began anew',
    bodies: [listing([task('a', { input_bytes: '100' })]), listing([task('a', { input_bytes: '30' })])],
    sums: { [INPUT]: 30, xvs_byte_count_resets_total: 1 },
  },
  {
    name: 'numbers up to 2⁵³ − 1 count to the byte',
    bodies: [
      listing([task('a', { input_bytes: String(MAX - 7) })]),
      listing([task('a', { input_bytes: String(MAX) })]),
    ],
    sums: { [INPUT]: 7, xvs_tasks: 1, [LEFT_OUT]: 0 },
  },
  ...['9007199254740992', '9007199254740993', '1e300', '1e400', '-1', '-9007199254740993'].map(
    (number): OddCase => ({
      name: `a task that has received ${number} bytes is left out and told; it goes on where it was`,
      bodies: [
        listing([task('a', { input_bytes: '5' }), task('b', { input_bytes: '1' })]),
        listing([task('a', { input_bytes: number }), task('b', { input_bytes: '4' })]),
        listing([task('a', { input_bytes: '9' }), task('b', { input_bytes: '6' })]),
      ],
      sums: {
        [INPUT]: 9,
        xvs_tasks: 2,
        [`${LEFT_OUT} reason="out_of_range"`]: 1,
        xvs_byte_count_resets_total: 0,
      },
    }),
  ),
  ...['0.5', '"12"', 'true', '[]', '{}'].map((value): OddCase => ({
    name: `a task that has received ${value} bytes is left out and told`,
    bodies: [listing([task('a', { input_bytes: value }), task('b', { input_bytes: '4' })])],
    sums: { xvs_tasks: 1, [`${LEFT_OUT} reason="wrong_type"`]: 2 },
  })),
  ...['1E2', '100.0', '10000e-2', '1.0e+2'].map((number): OddCase => ({
    name: `${number} is a hundred`,
    bodies: [listing([task('a', { input_bytes: '40' })]), listing([task('a', { input_bytes: number })])],
    sums: { [INPUT]: 60, [LEFT_OUT]: 0 },
  })),
  {
    name: '-0 is 0',
    bodies: [listing([task('a', { input_bytes: '-0' })]), listing([task('a', { input_bytes: '8' })])],
    sums: { [INPUT]: 8, [LEFT_OUT]: 0, xvs_byte_count_resets_total: 0 },
  },
  {
    name: 'of a key that comes twice in a record, the last one counts',
    bodies: [
      listing([task('a', { input_bytes: '10' })]),
      listing([`{"id":"x","input_bytes":999,"outputs":7,${task('a', { input_bytes: '50' }).slice(1)}`]),
    ],
    sums: { [INPUT]: 40, xvs_tasks: 1, [LEFT_OUT]: 0 },
  },
  {
    name: 'what nobody knows is read over, however deep it is nested',
    bodies: [
      listing(
        [task('a', { later: deepArray(20_000) })],
        [`{"vs_id":"s1","later":${deepArray(20_000)}}`],
        `,"later":${deepArray(100_000)}`,
      ),
    ],
    sums: { xvs_tasks: 1, xvs_online_users: 1, [LEFT_OUT]: 0 },
  },
  {
    name: 'records of any other type are left out and told',
    bodies: [
      listing(
        ['null', '1', '"a"', '[]', 'true', '{}', '{"id":""}', task('a')],
        ['null', '1', '"a"', '[]', 'true', '{}'],
      ),
    ],
    sums: {
      xvs_tasks: 1,
      xvs_online_users: 1,
      [`${LEFT_OUT} record="task"`]: 14,
      [`${LEFT_OUT} record="user"`]: 10,
    },
  },
  {
    name: 'an output that breaks the interface is left out and told, its task stands',
    bodies: [
      listing([
        task('a', { outputs: `[${output('1')},7,${output('-1')},${output('2', ',"streams":null')}]` }),
      ]),
    ],
    sums: { xvs_tasks: 1, xvs_outputs: 1, [`${LEFT_OUT} record="output"`]: 6 },
  },
  {
    name: 'sums beyond 2⁵³ do not go backwards',
    bodies: [
      listing([]),
      listing([
        task('a', { input_bytes: String(MAX) }),
        task('b', { input_bytes: String(MAX) }),
        task('c', { input_bytes: String(MAX) }),
      ]),
    ],
    sums: { [INPUT]: MAX + MAX + MAX },
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
      const all = bodies.get(serviceCodeOf(request.url?.split('?')[1] ?? '') ?? '') ?? [];
      // Those that have fewer begin later: all end at the same time, with the last one twice.
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
    for (const [key, wanted] of Object.entries(sums)) {
      const [family = '', label = ''] = key.split(' ');
      const matching = [...seriesWith(series, `${family}{`, code)].filter(([one]) => one.includes(label));
      assert.equal(
        matching.reduce((sum, [, value]) => sum + value, 0),
        wanted,
        key,
      );
    }
  });
}
