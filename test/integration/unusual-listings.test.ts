import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { parseServiceCode } from '../../src/simulator/authentication.ts';
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

const MAX = Number.MAX_SAFE_INTEGER;

/** JSON text of arrays in objects in arrays, `depth` levels deep. */
function createDeepArrayText(depth: number): string {
  return '[{"":'.repeat(depth) + '0' + '}]'.repeat(depth);
}

/** Writes a task as JSON; `fields` adds or replaces fields by their text. */
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

const REJECTED = 'xvs_exporter_invalid_records_total';
const INVALID_FIELDS = 'xvs_exporter_invalid_fields_total';
const FOREIGN = 'xvs_exporter_foreign_records_total';
const INPUT = 'xvs_input_bytes_total';
const OUTPUT = 'xvs_http_output_bytes_total';

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
  {
    name: 'equal outputs count as one with their sum, in any order',
    bodies: [
      listing([task('a', { outputs: `[${output('10')},${output('1000')}]` })]),
      listing([task('a', { outputs: `[${output('1005')},${output('30')}]` })]),
    ],
    sums: { [OUTPUT]: 25, xvs_outputs: 2, xvs_byte_count_resets_total: 0 },
  },
  {
    name: 'a task that moves to another server keeps its account; gains count for the new server',
    bodies: [
      listing([task('a', { input_bytes: '100' })]),
      listing([task('a', { input_bytes: '160', vs_id: '"s2"' })]),
      listing([task('a', { input_bytes: '200', vs_id: '"s1"' })]),
    ],
    sums: {
      [INPUT]: 100,
      [`${INPUT} vs_id="s1"`]: 40,
      [`${INPUT} vs_id="s2"`]: 60,
      xvs_tasks_started_total: 2,
      xvs_tasks_ended_total: 2,
      'xvs_tasks vs_id="s1"': 1,
      'xvs_tasks vs_id="s2"': 0,
    },
  },
  {
    name: 'a task that is absent from one listing resumes from its last value',
    bodies: [
      listing([task('a', { input_bytes: '100' })]),
      listing([]),
      listing([task('a', { input_bytes: '140' })]),
    ],
    sums: { [INPUT]: 40, xvs_tasks_started_total: 0, xvs_tasks_ended_total: 1 },
  },
  {
    name: 'smaller values are a reset when three listings have confirmed it',
    bodies: ['100', '30', '40', '49'].map((bytes) => listing([task('a', { input_bytes: bytes })])),
    sums: { [INPUT]: 49, xvs_byte_count_resets_total: 1 },
  },
  {
    name: 'numbers up to 2⁵³ − 1 are exact',
    bodies: [
      listing([task('a', { input_bytes: String(MAX - 7) })]),
      listing([task('a', { input_bytes: String(MAX) })]),
    ],
    sums: { [INPUT]: 7, xvs_tasks: 1, [REJECTED]: 0 },
  },
  ...['9007199254740992', '9007199254740993', '1e300', '1e400', '-1', '-9007199254740993'].map(
    (number): UnusualListing => ({
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
    }),
  ),
  ...['0.5', '"12"', 'true', '[]', '{}'].map((value): UnusualListing => ({
    name: `input_bytes ${value} counts as missing, and the task is kept`,
    bodies: [listing([task('a', { input_bytes: value }), task('b', { input_bytes: '4' })])],
    sums: { xvs_tasks: 2, [`${INVALID_FIELDS} record="task",field="input_bytes"`]: 2, [REJECTED]: 0 },
  })),
  ...['1E2', '100.0', '10000e-2', '1.0e+2'].map((number): UnusualListing => ({
    name: `${number} equals 100`,
    bodies: [listing([task('a', { input_bytes: '40' })]), listing([task('a', { input_bytes: number })])],
    sums: { [INPUT]: 60, [REJECTED]: 0 },
  })),
  {
    name: '-0 equals 0',
    bodies: [listing([task('a', { input_bytes: '-0' })]), listing([task('a', { input_bytes: '8' })])],
    sums: { [INPUT]: 8, [REJECTED]: 0, xvs_byte_count_resets_total: 0 },
  },
  {
    name: 'the last of duplicate keys in a record wins',
    bodies: [
      listing([task('a', { input_bytes: '10' })]),
      listing([`{"id":"x","input_bytes":999,"outputs":7,${task('a', { input_bytes: '50' }).slice(1)}`]),
    ],
    sums: { [INPUT]: 40, xvs_tasks: 1, [REJECTED]: 0 },
  },
  {
    name: 'unknown members are skipped at any depth',
    bodies: [
      listing(
        [task('a', { later: createDeepArrayText(20_000) })],
        [`{"vs_id":"s1","later":${createDeepArrayText(20_000)}}`],
        `,"later":${createDeepArrayText(100_000)}`,
      ),
    ],
    sums: { xvs_tasks: 1, xvs_online_users: 1, [REJECTED]: 0 },
  },
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
    name: 'invalid fields of an output count as missing, and its other fields are used',
    bodies: [
      listing([task('a', { outputs: `[${output('1')},7,${output('-1')},${output('2', ',"streams":7')}]` })]),
    ],
    sums: {
      xvs_tasks: 1,
      xvs_outputs: 3,
      xvs_http_connections: 3,
      [`${REJECTED} record="output"`]: 2,
      [`${INVALID_FIELDS} record="output",field="http_output_bytes"`]: 2,
      [`${INVALID_FIELDS} record="output",field="streams"`]: 2,
    },
  },
  ...[
    ['serial', '18446744073709551615'],
    ['serial', '"1"'],
    ['opaque', '42'],
  ].map(([field = '', value = '']): UnusualListing => ({
    name: `${field} ${value} does not affect its task`,
    bodies: [
      listing([task('a', { [field]: value, input_bytes: '10' })]),
      listing([task('a', { [field]: value, input_bytes: '30' })]),
    ],
    sums: { xvs_tasks: 1, [INPUT]: 20, [REJECTED]: 0, [INVALID_FIELDS]: 0 },
  })),
  {
    name: 'a user id that is a number does not affect its user',
    bodies: [listing([], ['{"vs_id":"s1","id":12345}'])],
    sums: { xvs_online_users: 1, [REJECTED]: 0, [INVALID_FIELDS]: 0 },
  },
  {
    name: 'an output without http_connections_num and streams keeps its bytes',
    bodies: ['100', '150'].map((bytes) =>
      listing([
        task('a', { outputs: `[{"format":"flv","file_name":"f","tag":"t","http_output_bytes":${bytes}}]` }),
      ]),
    ),
    sums: { xvs_tasks: 1, xvs_outputs: 1, [OUTPUT]: 50, [REJECTED]: 0, [INVALID_FIELDS]: 0 },
  },
  {
    name: 'a task with inputs null and without outputs keeps its bytes',
    bodies: ['100', '150'].map((bytes) =>
      listing([`{"id":"a","vs_id":"s1","inputs":null,"input_bytes":${bytes}}`]),
    ),
    sums: { xvs_tasks: 1, [INPUT]: 50, [REJECTED]: 0, [INVALID_FIELDS]: 0 },
  },
  {
    name: 'an empty device_version falls back to client_version',
    bodies: [
      listing([task('a', { inputs: '[{"device_type":10,"device_version":"","client_version":"451"}]' })]),
    ],
    sums: { 'xvs_input_clients client_version="451"': 1, [REJECTED]: 0, [INVALID_FIELDS]: 0 },
  },
  {
    name: 'a fractional progress is valid',
    bodies: ['100', '150'].map((bytes) => listing([task('a', { progress: '0.42', input_bytes: bytes })])),
    sums: {
      xvs_tasks: 1,
      xvs_tasks_with_progress: 1,
      [INPUT]: 50,
      [REJECTED]: 0,
      [INVALID_FIELDS]: 0,
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
  {
    name: 'a value that no stream can have carried is implausible and adds nothing',
    bodies: [
      listing([]),
      listing([task('a', { input_bytes: String(MAX) }), task('b', { input_bytes: '100' })]),
    ],
    sums: { [INPUT]: 100, xvs_byte_count_implausible_total: 1 },
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
