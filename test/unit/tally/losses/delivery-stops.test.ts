import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildOutputRecord, buildTaskRecord } from '../../../support/record-builders.ts';
import { START_MS, TallyRun } from '../../../support/tally-run.ts';

/** A stream in listings a minute apart: by default it receives, and delivers nothing to five connections. */
interface Minutes {
  readonly input?: readonly number[];
  readonly output?: readonly number[];
  readonly connections?: readonly number[];
  readonly format?: string;
  readonly pollIntervalMs?: number;
  /** Whether the stream is read from a file, with its progress in percent. */
  readonly progress?: readonly number[];
}

const STALL_AFTER_MS = 180_000;
const FLOWING = [0, 10, 20, 30, 40, 50, 60];

/** The minute since when nothing is delivered, as of each listing; `-` if something is. */
function followMinutes(minutes: Minutes): string {
  const { input = FLOWING, output = [], connections = [], format = 'flv', progress = [] } = minutes;
  const { pollIntervalMs = 60_000 } = minutes;
  const run = new TallyRun({ stallAfterMs: STALL_AFTER_MS, pollIntervalMs });
  return input
    .map((inputBytes, minute) => {
      const silent = { httpOutputBytes: output[minute] ?? 700, httpConnectionsNum: connections[minute] ?? 5 };
      const ofWatched = [buildOutputRecord({ format, fileName: 'a', ...silent })];
      // Other streams of the server flow, a file among them.
      const flowing = { httpOutputBytes: 9 * minute, httpConnectionsNum: 7 };
      const ofOther = [buildOutputRecord({ format: 'rtmp', fileName: 'b', ...flowing })];
      const bytes = 100 * minute;
      const tasks = [
        buildTaskRecord({ id: 'watched', inputBytes, outputs: ofWatched, progress: progress[minute] ?? 0 }),
        buildTaskRecord({ id: 'other', inputBytes: bytes, outputs: ofOther }),
        buildTaskRecord({ id: 'file', inputBytes: bytes, progress: 1 + minute }),
      ];
      const { deliveries } = run.commitListing({ tasks }, 60_000).losses;
      return deliveries.map(({ since }) => String((since.wallMs - START_MS) / 60_000)).join() || '-';
    })
    .join(' ');
}

const HOUR = Array.from({ length: 66 }, (_, minute) => minute);

for (const [name, minutes, expected] of [
  ['three minutes without a byte', {}, '- - - - 1 1 1'],
  ['a byte in between', { output: [0, 0, 1, 1, 1, 1, 1] }, '- - - - - 2 2'],
  ['bytes again', { output: [0, 0, 0, 0, 0, 5, 6] }, '- - - - 1 - -'],
  ['fewer viewers than five', { connections: [4, 4, 4, 4, 4, 4, 4] }, '- - - - - - -'],
  ['viewers that have just come', { connections: [0, 0, 0, 4, 5, 6, 9] }, '- - - - - - -'],
  ['viewers that come and go', { connections: [6, 6, 4, 6, 4, 6, 4] }, '- - - - 1 1 1'],
  ['viewers that leave at last', { connections: [5, 5, 5, 5, 5, 4, 0] }, '- - - - 1 1 -'],
  ['no input any more', { input: [0, 10, 10, 10, 10, 10, 10] }, '- - - - - - -'],
  ['no input later', { input: [0, 10, 20, 30, 40, 40, 40, 40] }, '- - - - 1 1 1 -'],
  ['no input at all', { input: [0, 0, 0, 0, 0, 0, 0] }, '- - - - - - -'],
  ['a file that is read', { progress: [1, 2, 3, 4, 5, 6, 7] }, '- - - 0 0 0 0'],
  ['HLS, which is not metered', { format: 'm3u8' }, '- - - - - - -'],
  ['polls that are too rare', { pollIntervalMs: 121_000 }, '- - - - - - -'],
  // The values wait until three listings confirm them.
  ['byte counts that begin again', { output: [900, 900, 900, 900, 900, 5, 6] }, '- - - - 1 - -'],
] as const satisfies readonly (readonly [string, Minutes, string])[]) {
  test(`a format has stopped on a server, or has not: ${name}`, () => {
    assert.equal(followMinutes(minutes), expected);
  });
}

test('a stop lasts an hour, and only bytes begin the next watch', () => {
  const listings = followMinutes({ input: HOUR }).split(' ');
  assert.deepEqual(
    [...listings.entries()].filter(([, since]) => since === '1').map(([minute]) => minute),
    HOUR.slice(4, 62),
  );
});

test('a server and a format that have stopped are named, whose outputs have five connections together', () => {
  const run = new TallyRun();
  const commit = (inputBytes: number) => {
    const outputs = ['a', 'b'].map((fileName) =>
      buildOutputRecord({ format: 'flv', fileName, httpConnectionsNum: 4 }),
    );
    const tasks = [buildTaskRecord({ vsId: 'server', inputBytes, outputs })];
    const { deliveries } = run.commitListing({ tasks }, 60_000).losses;
    return deliveries.map(({ since, ...stop }) => ({ ...stop, sinceMs: since.wallMs }));
  };
  commit(1);
  commit(2);
  commit(3);
  const stopped = [{ vsId: 'server', format: 'flv', before: 8, sinceMs: START_MS + 60_000 }];
  assert.deepEqual(commit(4), stopped);
});
