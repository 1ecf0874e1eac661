import assert from 'node:assert/strict';
import { test } from 'node:test';
import { advance, FALLS, MINUTE_MS, NO_LEVELS, type ListingTime } from '../../../../src/tally/losses/fall.ts';
import { followLevel, type LevelLoss } from '../../../../src/tally/losses/level-loss.ts';

const { tasks: TASKS, users: USERS } = FALLS;

/** What was lost as of each listing, at minutes that default to one after the other; `-` if nothing is. */
function follow(
  numbers: readonly number[],
  bounds: typeof TASKS | typeof USERS = TASKS,
  minutes: readonly number[] = [],
): string {
  let memory: LevelLoss = { levels: NO_LEVELS };
  let time: ListingTime | undefined;
  return numbers
    .map((number, index) => {
      const ms = (minutes[index] ?? index) * MINUTE_MS;
      time = advance(time, { monotonicMs: ms, wallMs: ms }, number, MINUTE_MS);
      memory = followLevel(memory, number, time, bounds);
      return memory.loss?.before ?? '-';
    })
    .join(' ');
}

const repeat = (count: number, number: number): number[] => Array.from({ length: count }, () => number);

for (const [name, numbers, expected] of [
  ['below half', [20, 20, 9], '- - 20'],
  ['to half', [20, 20, 10], '- - -'],
  ['below half of few', [9, 9, 1], '- - -'],
  ['to none of one', [1, 1, 0], '- - 1'],
  ['in two steps', [20, 20, 14, 5], '- - - 20'],
  ['until half is back once', [20, 20, 4, 9, 10, 9, 9], '- - 20 20 - - -'],
  ['again from a new level', [20, 20, 4, 20, 20, 9], '- - 20 - - 20'],
  ['after a listing that has all twice', [12, 24, 11, 11], '- - - -'],
  ['in its first listing', [20, 9], '- -'],
  ['one by one', [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0], '- - - - - - - - - - - - 1'],
  ['one by one in slow listings', [12, 10, 8, 6, 4, 2, 0], '- - - - - - 2'],
] as const) {
  test(`a loss of tasks: ${name}`, () => assert.equal(follow(numbers), expected));
}

test('what an outage loses is lost in one step, and a loss lasts an hour', () => {
  assert.equal(follow([20, 20, 4, 4, 4], TASKS, [0, 1, 41, 101, 102]), '- - 20 20 -');
});

test('a fall that takes longer than ten minutes is no loss of users', () => {
  assert.equal(follow([40, 40, 30, 19], USERS), '- - - 40');
  assert.equal(follow([40, 40, ...repeat(9, 30), 19], USERS), `${'- '.repeat(11)}40`);
  assert.equal(follow([40, 40, ...repeat(11, 30), 19], USERS), '- '.repeat(14).trim());
});

test('a number that falls in each listing is remembered once a minute', () => {
  let time: ListingTime | undefined;
  let memory: LevelLoss = { levels: NO_LEVELS };
  for (let listing = 0; listing < 600; listing += 1) {
    const ms = listing * 5000;
    time = advance(time, { monotonicMs: ms, wallMs: ms }, 0, 5000);
    memory = followLevel(memory, 10_000 - listing, time, USERS);
    assert.ok(memory.levels.larger.length <= 12);
  }
  const [first] = memory.levels.larger;
  const exact = 10_000 - 599 + 120;
  assert.ok(first !== undefined && first.value <= exact && first.value > exact - 12);
});
