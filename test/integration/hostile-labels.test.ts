import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExposition } from '../support/exposition-parser.ts';
import { assertPromtoolAccepts } from '../support/installed-programs.ts';
import { ListingRun } from '../support/listing-run.ts';
import { POLLED_CODE } from '../support/read-listing.ts';
import { parseSeries, sumSeries } from '../support/series.ts';

/** Hostile texts in fields that become label values, as the bytes of a JSON string. */
const VALUES: readonly (readonly [what: string, content: string | Buffer])[] = [
  ['64 KiB', 'x'.repeat(65_536)],
  ['64 KiB with a different last character', `${'x'.repeat(65_535)}y`],
  ['64 KiB of emoji', '\u{1f600}'.repeat(16_384)],
  ['invalid UTF-8', Buffer.from([0x61, 0xff, 0xfe, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0x62])],
  ['an overlong slash', Buffer.from([0xc0, 0xaf])],
  ['control characters', String.raw`\u0000\u0001\u001b[31m\u007f\u0085`],
  ['line ends', String.raw`a\nb\r\nc\u2028d\u2029e`],
  ['a quote', String.raw`a"} 1\nxvs_up{service_code=\"`.replace('a"', String.raw`a\"`)],
  ['backslashes', String.raw`\\\\\\n\\`],
  ['a backslash at the end', String.raw`a\\`],
  ['the label value of folded series', '__other__'],
  ['the label value of unknown values', 'unknown'],
  ['nothing', ''],
  ['blanks', '   '],
  ['lone surrogates', String.raw`\ud800x\udc00`],
  ['a byte order mark', '\ufeff1.0'],
  ['right to left marks', '\u202e1.0\u202c'],
  ['a comment', '# HELP xvs_up no'],
  ['a timestamp', '1 1700000000000'],
  ['the end', '# EOF'],
  ['HTML', '<script>alert(1)</script>&amp;'],
  ['a prototype', '__proto__'],
  ['a constructor', 'constructor'],
];

const quote = (content: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from('"'), Buffer.from(content), Buffer.from('"')]);

/** JSON in which `?` stands for the value. */
function fillTemplate(template: string, content: string | Buffer): Buffer {
  const parts = template
    .split('?')
    .flatMap((part, index) => [...(index === 0 ? [] : [quote(content)]), Buffer.from(part)]);
  return Buffer.concat(parts);
}

const USER = '{"vs_id":?,"client_version":?,"device_type":?}';
const OUTPUT =
  '{"format":?,"file_name":?,"tag":?,"audio_codec_name":?,"video_codec_name":?,"width":1,"height":1,"http_output_bytes":5,"http_connections_num":1,"streams":[]}';
const TASK = `{"id":"#","vs_id":?,"input_bytes":7,"inputs":[{"url":?,"device_type":?,"device_version":?}],"outputs":[${OUTPUT}]}`;

function createListing(): Buffer {
  const comma = Buffer.from(',');
  const joined = (records: readonly Buffer[]): Buffer =>
    Buffer.concat(records.flatMap((record, index) => (index === 0 ? [record] : [comma, record])));
  const tasks = VALUES.map(([, content], index) => fillTemplate(TASK.replace('#', String(index)), content));
  return Buffer.concat([
    Buffer.from('{"ret":0,"user_list":['),
    joined(VALUES.map(([, content]) => fillTemplate(USER, content))),
    Buffer.from('],"task_list":['),
    joined(tasks),
    Buffer.from(']}'),
  ]);
}

test(`with ${VALUES.length} hostile values in every label, the exposition is valid and every sum exact`, (t) => {
  const run = new ListingRun();
  run.publish(Buffer.from('{"ret":0,"user_list":[],"task_list":[]}'));
  run.publish(createListing());
  const text = run.render();
  assertPromtoolAccepts(t, text);
  parseExposition(run.render('openmetrics'), 'openmetrics');
  const series = parseSeries(text);
  for (const [family, each] of [
    ['xvs_online_users', 1],
    ['xvs_server_online_users', 1],
    ['xvs_tasks', 1],
    ['xvs_inputs', 1],
    ['xvs_input_clients', 1],
    ['xvs_outputs', 1],
    ['xvs_output_tags', 1],
    ['xvs_output_renditions', 1],
    ['xvs_http_connections', 1],
    ['xvs_input_bytes_total', 7],
    ['xvs_http_output_bytes_total', 5],
    ['xvs_tasks_started_total', 1],
  ] as const) {
    assert.equal(sumSeries(series, family, POLLED_CODE), each * VALUES.length, family);
  }
  assertLabels(text);
});

/** Asserts that each value has 1 to 128 characters, no control character and no lone surrogate. */
function assertLabels(text: string): void {
  for (const { samples } of parseExposition(text, 'text').families.values()) {
    for (const { name, labels } of samples) {
      if (!name.startsWith('xvs_') || name.startsWith('xvs_exporter_')) continue;
      for (const value of Object.values(labels)) {
        assert.ok(value !== '' && value.isWellFormed(), name);
        assert.ok(Array.from(value).length <= 128, name);
        assert.doesNotMatch(value, /\p{Cc}/u, name);
      }
    }
  }
}
