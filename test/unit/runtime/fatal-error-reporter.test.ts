import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FatalErrorReporter } from '../../../src/runtime/fatal-error-reporter.ts';
import { createLogger, type LogLevel } from '../../../src/runtime/logger.ts';

const error = Object.assign(new Error('broken'), {
  headers: { 'xvs-signature': 'abcdef' },
  secret: 'hunter2',
});

function report(...levels: readonly LogLevel[]): string {
  let text = '';
  const destination = {
    write: (chunk: string) => {
      text += chunk;
    },
  };
  const fatalErrorReporter = new FatalErrorReporter(destination);
  for (const level of levels) fatalErrorReporter.logTo(createLogger({ level, format: 'json', destination }));
  fatalErrorReporter.report(error);
  return text;
}

test('a fatal error is reported in plain text as long as there is no logger', () => {
  assert.match(report(), /^xvs-exporter: Error: broken\n +at /);
});

for (const level of ['debug', 'info', 'warn', 'error'] as const) {
  test(`a fatal error is one log line at level ${level}, without other properties of the error`, () => {
    const text = report(level);
    const { time: _time, err, ...line }: Record<string, unknown> = JSON.parse(text);
    assert.deepEqual(line, { level: 'fatal', msg: 'Unexpected error; exiting' });
    assert.match(
      JSON.stringify(err),
      /^\{"type":"Error","message":"broken","stack":"Error: broken\\n +at [^{]*\}$/,
    );
    assert.doesNotMatch(text, /hunter2|abcdef/);
  });
}
