import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TaskRecord } from '../../../support/listing-records.ts';
import { buildTaskRecord } from '../../../support/record-builders.ts';
import { TallyRun } from '../../../support/tally-run.ts';

/** Tasks by what they receive: `f` flows, `s` has stopped, `z` has never flowed in sight, `n` is new each time. */
function follow(listings: readonly string[], stepMs = 30_000, restartAt = Infinity): string {
  const run = new TallyRun({ stallAfterMs: 60_000, pollIntervalMs: stepMs });
  const bytes = new Map<number, number>();
  return listings
    .map((kinds, index) => {
      if (index === restartAt) run.restart({}, stepMs);
      const tasks = [...kinds].flatMap((kind, place): TaskRecord[] => {
        if (kind === '-') return [];
        if (kind === 'f') bytes.set(place, (bytes.get(place) ?? 100) + 1000);
        const [id, inputBytes] =
          kind === 'n' ? [`${place} ${index}`, 0] : [`${place}`, bytes.get(place) ?? 500];
        return [buildTaskRecord({ id, inputBytes })];
      });
      return run.commitListing({ tasks }, stepMs).losses.ingest?.before ?? '-';
    })
    .join(' ');
}

for (const [name, listings, expected] of [
  ['most fall silent', ['ffff', 'ffff', 'ffff', 'fsss', 'fsss', 'fsss'], '- - - - 4 4'],
  ['half fall silent', ['ffff', 'ffff', 'ffff', 'ffss', 'ffss', 'ffss'], '- - - - - -'],
  ['of few', ['fff', 'fff', 'fff', 'sss', 'sss', 'sss'], '- - - - - -'],
  ['half receive again', ['ffff', 'ffff', 'ffff', 'ssss', 'ssss', 'ffss', 'ssss'], '- - - - 4 - -'],
  ['the service ends the tasks', ['ffff', 'ffff', 'ffff', 'ssss', 'ssss', '----', '----'], '- - - - 4 4 4'],
  ['tasks end', ['ffffff', 'ffffff', 'ffffff', 'ff----', 'ff----', 'ff----'], '- - - - - -'],
  ['others have long been silent', ['ffzzzz', 'ffzzzz', 'ffzzzz', 'ffzzzz', 'ffzzzz'], '- - - - -'],
  ['new tasks wait for input', ['ffff', 'ffff', 'ffffnnnnn', 'ffffnnnnn', 'ffffnnnnn'], '- - - - -'],
  [
    'tasks restart without input',
    ['ffff', 'ffff', ...'nnnnnnnn'.replaceAll('n', 'nnnn ').trim().split(' ')],
    '- - - - - - 4 4 4 4',
  ],
] as const) {
  test(`the ingest of four tasks or more has stopped, or has not: ${name}`, () => {
    assert.equal(follow(listings), expected);
  });
}

test('a restart with state does not end a stop', () => {
  assert.equal(follow(['ffff', 'ffff', 'ffff', 'ssss', 'ssss', 'ssss', 'ffss'], 30_000, 5), '- - - - 4 4 -');
});
