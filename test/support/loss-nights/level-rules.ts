import { HOUR, type Bounds, type History, type Level } from './history.ts';
import type { LossRules } from './loss-oracle.ts';

interface LevelBounds {
  /** Below half of at least so many. */
  readonly leastOfHalf: number;
  /** To 0 from at least so many. */
  readonly leastOfAll: number;
  readonly endsOneByOne: boolean;
}

/** The losses of a number of each listing. */
export function createLevelRules(
  history: History,
  fact: 'tasks' | 'users',
  { leastOfHalf, leastOfAll, endsOneByOne }: LevelBounds,
): LossRules {
  const counts = history.listings.map(({ users, tasks }): Bounds => {
    const count = fact === 'users' ? users : tasks.length;
    return { least: count, most: count };
  });
  const countAt = (index: number): number => counts[index]?.least ?? 0;
  /** Whether a number has fallen from a level by more than so many that ended one by one. */
  const isFall = (index: number, { least: level }: Level, ends: number): boolean =>
    (level >= leastOfHalf && countAt(index) + ends < level / 2) ||
    (level >= leastOfAll && level > ends && countAt(index) === 0);
  const listFalls = (index: number, since: number, bound: keyof Bounds): readonly Level[] =>
    history.listLevels(counts, index, since).filter((level) => {
      const ends = endsOneByOne ? history.countSingleEnds(counts, level.index, index)[bound] : 0;
      return isFall(index, level, ends);
    });
  return {
    fact,
    told: (index) => history.at(index).told[fact],
    isAbsentWithout: false,
    isDue: (index, end) => listFalls(index, end, 'most').length > 0,
    listAllowed: (index, begin) => listFalls(index, begin, 'least'),
    isOver: (index, { before, begun }) =>
      countAt(index) >= before / 2 || history.seconds(begun, index) > HOUR,
    canBeOver: (index, { before, begun }) =>
      countAt(index) >= before / 2 || history.seconds(begun, index) >= HOUR,
    describe: (index) => [5, 4, 3, 2, 1, 0].map((back) => counts[index - back]?.least).join(' '),
  };
}
