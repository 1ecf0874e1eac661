import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildOutputRecord, buildTaskRecord } from '../../../support/record-builders.ts';
import { START_MS, TallyRun } from '../../../support/tally-run.ts';

/** A server in listings a minute apart: by default it receives, and delivers nothing to five connections. */
interface Minutes {
  readonly input?: readonly number[];
  readonly output?: readonly number[];
  readonly connections?: readonly number[];
  readonly format?: string;
}

const STALL_AFTER_MS = 180_000;
const FLOWING = [0, 10, 20, 30, 40, 50, 60];

/** The minute since when nothing is delivered, as of each listing; `-` if something is. */
function followMinutes({ input = FLOWING, output = [], connections = [], format = 'flv' }: Minutes): string {
  const run = new TallyRun({ stallAfterMs: STALL_AFTER_MS, pollIntervalMs: 60_000 });
  return input
    .map((inputBytes, minute) => {
      const silent = { httpOutputBytes: output[minute] ?? 700, httpConnectionsNum: connections[minute] ?? 5 };
      const outputs = [
        buildOutputRecord({ format, fileName: 'a', ...silent }),
        buildOutputRecord({
          format: 'rtmp',
          fileName: 'b',
          httpOutputBytes: 9 * minute,
          httpConnectionsNum: 7,
        }),
      ];
      const tasks = [buildTaskRecord({ inputBytes, outputs })];
      const { deliveries } = run.commitListing({ tasks }, 60_000).losses;
      return deliveries.map(({ since }) => String((since.wallMs - START_MS) / 60_000)).join() || '-';
    })
    .join(' ');
}

for (const [name, minutes, expected] of [
  ['three minutes without a byte', {}, '- - - 0 0 0 0'],
  ['a byte in between', { output: [0, 0, 1, 1, 1, 1, 1] }, '- - - - - 2 2'],
  ['bytes again', { output: [0, 0, 0, 0, 0, 5, 6] }, '- - - 0 0 - -'],
  ['viewers that have just come', { connections: [0, 0, 0, 4, 5, 6, 9] }, '- - - - - - -'],
  ['viewers that leave, as nothing comes', { connections: [5, 5, 5, 5, 4, 4, 5] }, '- - - 0 0 0 0'],
  ['viewers that leave before', { connections: [5, 5, 5, 4, 4, 4, 5] }, '- - - - - - -'],
  ['no input any more', { input: [0, 10, 10, 10, 10, 10, 10] }, '- - - - - - -'],
  ['no input later', { input: [0, 10, 20, 30, 30, 30, 30] }, '- - - 0 0 0 -'],
  ['no input at all', { input: [0, 0, 0, 0, 0, 0, 0] }, '- - - - - - -'],
  ['HLS, which is not metered', { format: 'm3u8' }, '- - - - - - -'],
  // The values wait until three listings confirm them.
  ['byte counts that begin again', { output: [900, 900, 900, 900, 5, 6, 7] }, '- - - 0 - - -'],
] as const satisfies readonly (readonly [string, Minutes, string])[]) {
  test(`a server with five connections has stopped delivering a format, or has not: ${name}`, () => {
    assert.equal(followMinutes(minutes), expected);
  });
}

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
  const stopped = [{ vsId: 'server', format: 'flv', before: 8, sinceMs: START_MS }];
  assert.deepEqual(commit(3), stopped);
});
