import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LastWords } from '../src/last-words.ts';
import { createLogger, type LogLevel } from '../src/log.ts';

const error = Object.assign(new Error('broken'), {
  headers: { 'xvs-signature': 'abcdef' },
  secret: 'hunter2',
});

function written(...levels: readonly LogLevel[]): string {
  let text = '';
  const destination = {
    write: (piece: string) => {
      text += piece;
    },
  };
  const lastWords = new LastWords(destination);
  for (const level of levels) lastWords.logTo(createLogger({ level, format: 'json', destination }));
  lastWords.say(error);
  return text;
}

test('what ends the process is told in plain text until there is a log', () => {
  assert.match(written(), /^xvs-exporter: Error: broken\n +at /);
});

for (const level of ['debug', 'info', 'warn', 'error'] as const) {
  test(`what ends the process is one line of a log of level ${level}, with nothing else that the error carries`, () => {
    const text = written(level);
    const { time: _time, stack, ...line }: Record<string, unknown> = JSON.parse(text);
    assert.deepEqual(line, { level: 'fatal', error: 'broken', msg: 'Ending: unexpected error' });
    assert.match(String(stack), /^Error: broken\n +at /);
    assert.doesNotMatch(text, /hunter2|abcdef/);
  });
}
