import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildTaskRecord } from '../../../support/record-builders.ts';
import { TallyRun } from '../../../support/tally-run.ts';

/** The servers that are lost, and with how many tasks, as of each listing of tasks by server. */
function follow(listings: readonly string[], stepMs = 60_000): string {
  const run = new TallyRun({ pollIntervalMs: stepMs });
  return listings
    .map((servers, index) => {
      const tasks = [...servers].map((vsId, place) => buildTaskRecord({ id: `${index} ${place}`, vsId }));
      const lost = run.commitListing({ tasks }, stepMs).losses.servers;
      return lost.map(({ vsId, before }) => `${vsId}${before}`).join() || '-';
    })
    .join(' ');
}

for (const [name, listings, expected] of [
  ['it leaves with its tasks, and is back', ['aabb', 'aabb', 'aa', 'aa', 'aa', 'aab'], '- - - - b2 -'],
  ['it leaves over two listings', ['aabbbbbb', 'aabbbbbb', 'aabb', 'aa', 'aa', 'aa'], '- - - - - b6'],
  ['one task stays for a listing', ['aabbbbbb', 'aabbbbbb', 'aab', 'aa', 'aa', 'aa'], '- - - - - b6'],
  ['others take its tasks over', ['aabb', 'aabb', 'aaaa', 'aaaa', 'aaaa'], '- - - - -'],
  ['others take them over a minute later', ['aabb', 'aabb', 'aa', 'aaaa', 'aaaa'], '- - - - -'],
  ['others take half of them over', ['aabbbb', 'aabbbb', 'aaaa', 'aaaa', 'aaaa'], '- - - - b4'],
  ['half of them run again', ['aabb', 'aabb', 'aa', 'aa', 'aa', 'aaaa', 'aa'], '- - - - b2 - -'],
  ['its tasks end one by one', ['aabb', 'aabb', 'aab', 'aa', 'aa', 'aa'], '- - - - - -'],
  ['it has one task', ['aab', 'aab', 'aa', 'aa', 'aa'], '- - - - -'],
  ['nothing is left', ['aabb', 'aabb', '', '', '', ''], '- - - - - -'],
  ['two leave together', ['aabbccc', 'aabbccc', 'aa', 'aa', 'aa', 'aaccc'], '- - - - b2,c3 b2'],
] as const) {
  test(`a server is lost, or is not: ${name}`, () => assert.equal(follow(listings), expected));
}

test('a loss of a server takes two listings and two minutes, and lasts an hour', () => {
  const repeat = (count: number, text: string): string[] => Array.from({ length: count }, () => text);
  const fast = follow(['aabb', 'aabb', ...repeat(10, 'aa')], 15_000).split(' ');
  assert.equal(fast.indexOf('b2'), 2 + 8);
  const slow = follow(['aabb', 'aabb', ...repeat(9, 'aa')], 600_000);
  assert.equal(slow, '- - - - b2 b2 b2 b2 b2 - -');
});
