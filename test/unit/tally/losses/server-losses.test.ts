import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildTaskRecord } from '../../../support/record-builders.ts';
import { TallyRun } from '../../../support/tally-run.ts';

/** The servers that are lost, and with how many tasks, as of each listing of tasks by server. */
function follow(...listings: readonly string[]): string {
  const run = new TallyRun();
  return listings
    .map((servers, index) => {
      const tasks = [...servers].map((vsId, place) => buildTaskRecord({ id: `${index} ${place}`, vsId }));
      const lost = run.commitListing({ tasks }).losses.servers;
      return lost.map(({ vsId, before }) => `${vsId}${before}`).join() || '-';
    })
    .join(' ');
}

for (const [name, listings, expected] of [
  ['it leaves with its tasks, and is back', ['aabb', 'aa', 'aa', 'aab'], '- b2 b2 -'],
  ['others take them over', ['aabb', 'aaaa', 'aaaa'], '- - -'],
  ['others take half of them over', ['aabbbb', 'aaaa', 'aa'], '- b4 b4'],
  ['it is drained', ['aabbbb', 'aabb', 'aab', 'aa'], '- - - -'],
  ['nothing is left', ['aabb', '', ''], '- - -'],
  ['two leave together', ['aabbccc', 'aa', 'aaccc'], '- b2,c3 b2'],
] as const) {
  test(`a server is lost, or is not: ${name}`, () => assert.equal(follow(...listings), expected));
}
