import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TaskRecord } from '../../../support/listing-records.ts';
import { buildTaskRecord } from '../../../support/record-builders.ts';
import { TallyRun } from '../../../support/tally-run.ts';

/**
 * Tasks by what they receive: `f` flows, `r` flows and its count begins again, `s` has stopped, `z` has not
 * flowed in sight, `w` waits for its publisher, `n` is new each time.
 */
function follow(listings: readonly string[], stepMs = 30_000, restartAt = Infinity): string {
  const run = new TallyRun({ stallAfterMs: 60_000, pollIntervalMs: stepMs });
  const bytes = new Map<number, number>();
  return listings
    .map((kinds, index) => {
      if (index === restartAt) run.restart({}, stepMs);
      const tasks = [...kinds].flatMap((kind, place): TaskRecord[] => {
        if (kind === '-') return [];
        if (kind === 'f') bytes.set(place, (bytes.get(place) ?? 10_000) + 1000);
        if (kind === 'r') bytes.set(place, 1000);
        const id = kind === 'n' ? `${place} ${index}` : `${place} ${kind === 'w' ? 'waiting' : ''}`;
        const inputBytes = kind === 'n' || kind === 'w' ? 0 : (bytes.get(place) ?? 500);
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
    ['ffff', 'ffff', 'ffff', ...'nnnnnnnn'.replaceAll('n', 'nnnn ').trim().split(' ')],
    '- - - - - - - 4 4 4 4',
  ],
] as const) {
  test(`the ingest of four tasks or more has stopped, or has not: ${name}`, () => {
    assert.equal(follow(listings), expected);
  });
}

/** The stop that is told at last, and how many listings it takes. */
function last(listings: readonly string[], stepMs: number): string {
  const told = follow(listings, stepMs).split(' ');
  return `${told.at(-1)} in ${told.filter((before) => before !== '-').length}`;
}

const repeat = (count: number, ...listings: readonly string[]): string[] =>
  Array.from({ length: count }, () => listings).flat();
const fallSilent = (count: number, listings: number): string[] =>
  Array.from({ length: count * listings }, (_, index) => {
    const silent = 1 + Math.floor(index / listings);
    return 'f'.repeat(count - silent) + 's'.repeat(silent);
  });

for (const [name, stepMs, listings, expected] of [
  [
    'all byte counts begin again, polls are rare',
    120_000,
    ['ffff', 'ffff', 'rrrr', ...repeat(4, 'ffff')],
    '- in 0',
  ],
  [
    'all byte counts begin again, polls are rarer',
    240_000,
    ['ffff', 'ffff', 'rrrr', ...repeat(4, 'ffff')],
    '- in 0',
  ],
  ['a code is added with tasks that have been silent for days', 15_000, repeat(40, 'fffzzzz'), '- in 0'],
  [
    'tasks are created long before their broadcast',
    15_000,
    [...repeat(4, 'fff'), ...repeat(40, 'fffwwwww')],
    '- in 0',
  ],
  ['only such tasks are listed', 15_000, repeat(40, 'wwwww'), '- in 0'],
  [
    'four end, and five wait since a minute',
    15_000,
    [...repeat(9, 'ffff'), ...repeat(4, 'ffffwwwww'), ...repeat(40, '----wwwww')],
    '- in 0',
  ],
  [
    'eight fall silent, one each 20 s',
    20_000,
    [...repeat(4, 'ffffffff'), ...fallSilent(8, 1), ...repeat(3, 'ssssssss')],
    '8 in 5',
  ],
  ['eight fall silent, one a minute', 15_000, [...repeat(4, 'ffffffff'), ...fallSilent(8, 4)], '8 in 13'],
  [
    'a cut is over, and later most end',
    15_000,
    [
      ...repeat(4, 'ffffffff'),
      ...repeat(12, 'ssssssss'),
      ...repeat(32, 'ffffffff'),
      ...repeat(20, 'ff------'),
    ],
    '- in 9',
  ],
  [
    'some return, the others are ended, and those stop again',
    15_000,
    [
      ...repeat(4, 'f'.repeat(20)),
      ...repeat(8, 's'.repeat(20)),
      ...repeat(8, 'f'.repeat(8) + 's'.repeat(12)),
      ...repeat(8, 'f'.repeat(8)),
      ...repeat(8, 's'.repeat(8)),
    ],
    '8 in 18',
  ],
  [
    'one listing is answered again, polls are rare',
    120_000,
    ['ffff', 'ffff', 'ffff', 'ssss', 'ffff'],
    '- in 0',
  ],
  [
    'all tasks are silent, then ended within the hour',
    60_000,
    [...repeat(3, 'ffff'), ...repeat(50, 'ssss'), ...repeat(20, '----')],
    '- in 60',
  ],
  [
    'encoders are off while their tasks are listed',
    60_000,
    [...repeat(3, 'ffff'), ...repeat(200, 'ssss')],
    '4 in 199',
  ],
] as const) {
  test(`the ingest has stopped, or has not: ${name}`, () => assert.equal(last(listings, stepMs), expected));
}

test('a restart with state does not end a stop', () => {
  assert.equal(follow(['ffff', 'ffff', 'ffff', 'ssss', 'ssss', 'ssss', 'ffss'], 30_000, 5), '- - - - 4 4 -');
});
