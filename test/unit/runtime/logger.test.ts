import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createLogger, toLogfmt, type LogFormat, type Logger } from '../../../src/runtime/logger.ts';
import { arbitraryText } from '../../support/arbitrary-text.ts';

function logLines(format: LogFormat, log: (logger: Logger) => void): string[] {
  const lines: string[] = [];
  log(createLogger({ level: 'info', format, destination: { write: (line) => lines.push(line) } }));
  return lines;
}

test('a JSON line has an ISO time, the level as a word, the fields and the message; logfmt starts with these', () => {
  const warn = (logger: Logger) => logger.child({ service_code: 'A' }).warn({ polls: 3 }, 'Service is down');
  const { time, ...rest }: Record<string, unknown> = JSON.parse(logLines('json', warn).join(''));
  assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(rest, { level: 'warn', service_code: 'A', polls: 3, msg: 'Service is down' });
  const pairs = /^time=\S{24} level=warn msg="Service is down" service_code=A polls=3\n$/;
  assert.match(logLines('logfmt', warn).join(''), pairs);
});

test('an error is logged with its type, stack, message and the message of its cause', () => {
  const err = new TypeError('Expected a, found b', { cause: new Error('because') });
  const [line = ''] = logLines('logfmt', (logger) => logger.error({ err }, 'Request failed'));
  assert.match(
    line,
    / err\.type=TypeError err\.message="Expected a, found b: because" err\.stack="TypeError: Exp.*\\n/,
  );
});

test('an error is logged without properties that may hold a secret', () => {
  const err = Object.assign(new Error('broken'), {
    code: 'EIO',
    headers: { cookie: 'hunter2' },
    note: 'hunter2',
  });
  const [line = ''] = logLines('json', (logger) => logger.error({ err }, 'Request failed'));
  const { err: logged }: { err: object } = JSON.parse(line);
  assert.deepEqual(Object.keys(logged), ['type', 'message', 'code', 'stack']);
});

test('the message of an error alone is logged without a stack', () => {
  const [line = ''] = logLines('logfmt', (logger) => logger.error({ err: 'disk full' }, 'Write failed'));
  assert.match(line, / msg="Write failed" err\.message="disk full"\n$/);
});

for (const format of ['json', 'logfmt'] as const) {
  test(`fields named like secrets are censored in ${format} at any depth`, () => {
    const names = ['secret', 'password', 'signature', 'authorization'];
    const hidden = Object.fromEntries(names.map((name) => [name, 'hunter2']));
    const lines = logLines(format, (logger) => {
      logger.info({ ...hidden, one: hidden, request: { headers: hidden } }, 'Sent');
      logger.child(hidden).info('Sent');
      logger.child({ one: hidden }).info('Sent');
    });
    assert.equal(lines.length, 3);
    assert.doesNotMatch(lines.join(''), /hunter2/);
  });
}

const VALUES: readonly (readonly [unknown, string])[] = [
  ['plain', 'v=plain'],
  ['', 'v=""'],
  ['say "hi"', 'v="say \\"hi\\""'],
  ['\u001b[31m\u009b\u2028', 'v="\\u001b[31m\\u009b\\u2028"'],
  [null, 'v=null'],
  [['a', 1], 'v="[\\"a\\",1]"'],
  [{ b: { c: 1 }, d: [] }, 'v.b.c=1 v.d=[]'],
];

for (const [value, expected] of VALUES) {
  test(`logfmt writes ${JSON.stringify(value)} as ${expected}`, () => {
    assert.equal(toLogfmt(JSON.stringify({ v: value })), `${expected}\n`);
  });
}

test('a logfmt line is one line, and its pairs can be parsed back into the values', () => {
  const pair = /([^\s="]+)=("(?:[^"\\\n]|\\.)*"|[^\s="]+)(?: |\n$)/gy;
  fc.assert(
    fc.property(fc.dictionary(fc.string({ minLength: 1 }), arbitraryText()), (fields) => {
      const line = toLogfmt(JSON.stringify({ ...fields, msg: 'm' }));
      const pairs = [...line.matchAll(pair)];
      const read = pairs.map(([, , value = '']) =>
        value.startsWith('"') ? String(JSON.parse(value)) : value,
      );
      const { time, level, msg: _msg, ...rest } = fields;
      const expected = [...[time, level].filter((value) => value !== undefined), 'm', ...Object.values(rest)];
      assert.deepEqual(read, expected);
      assert.equal(line.indexOf('\n'), line.length - 1);
    }),
  );
});
