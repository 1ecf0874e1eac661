import { HOUR, MINUTE, type Bounds, type History, type Level } from './history.ts';
import type { LossRules } from './loss-oracle.ts';

const LEAST_TASKS = 2;
/** The tasks of a server may begin again elsewhere within two listings and two minutes. */
const RESTART_SECONDS = 2 * MINUTE;
const RESTART_LISTINGS = 2;

/** A server that fell to 0 tasks with a listing, from one of its levels. */
interface Fall {
  readonly index: number;
  readonly levels: readonly Level[];
}

export function createServerRules(history: History, server: string): LossRules {
  const counts = history.listings.map(({ tasks }): Bounds => {
    const own = tasks.filter(({ vsId }) => vsId === server).length;
    return { least: own, most: own };
  });
  const countAt = (index: number): number => counts[index]?.least ?? 0;
  const totalAt = (index: number): number => history.at(index).tasks.length;

  const findFall = (index: number): Fall | undefined => {
    if (countAt(index) > 0) return undefined;
    let first = index;
    while (first > 0 && countAt(first - 1) === 0) first -= 1;
    return first === 0 ? undefined : { index: first, levels: history.listLevels(counts, first, 0) };
  };
  const fellFrom = ({ index }: Fall, level: Level, bound: keyof Bounds): boolean => {
    const ends = history.countSingleEnds(counts, level.index, index)[bound];
    const fallen = level.least - ends;
    return level.least >= LEAST_TASKS && (bound === 'most' ? fallen >= LEAST_TASKS : fallen > 0);
  };
  /** Whether the code lists fewer tasks than with the whole server, by half of the server's. */
  const isMissed = (index: number, level: Level): boolean => {
    let whole = level.index;
    while (countAt(whole + 1) >= level.least) whole += 1;
    return totalAt(index) <= totalAt(whole) - level.least / 2;
  };
  const isMissedThroughout = ({ index: first }: Fall, index: number, level: Level): boolean => {
    for (let at = first; at <= index; at += 1) if (!isMissed(at, level) || totalAt(at) === 0) return false;
    return true;
  };

  return {
    fact: `server ${server}`,
    told: (index) => history.at(index).told.servers.get(server),
    isAbsentWithout: true,
    isDue: (index, end) => {
      const fall = findFall(index);
      if (fall === undefined || fall.index <= end) return false;
      const { index: first, levels } = fall;
      const isDecided = (at: number): boolean =>
        at - first >= RESTART_LISTINGS && history.seenSeconds(first, at) >= RESTART_SECONDS;
      const allowed = levels.filter((level) => fellFrom(fall, level, 'least'));
      return (
        isDecided(index) &&
        history.seconds(first, index) < HOUR &&
        allowed.some((level) => fellFrom(fall, level, 'most')) &&
        allowed.every((level) => isMissedThroughout(fall, index, level))
      );
    },
    listAllowed: (index) => {
      const fall = findFall(index);
      if (fall === undefined || index - fall.index < RESTART_LISTINGS) return [];
      if (history.seconds(fall.index, index) < RESTART_SECONDS) return [];
      return fall.levels.filter((level) => fellFrom(fall, level, 'least') && isMissed(index, level));
    },
    isOver: (index, { begun }) =>
      countAt(index) > 0 ||
      history.seconds(begun, index) > HOUR ||
      (findFall(index)?.levels.every((level) => !isMissed(index, level)) ?? true),
    canBeOver: (index, { begun, before }) => {
      const fall = findFall(index);
      return (
        fall === undefined ||
        totalAt(index) === 0 ||
        history.seconds(fall.index, begun) + history.seconds(begun, index) >= HOUR ||
        fall.levels.some((level) => level.least === before && !isMissed(index, level))
      );
    },
    describe: (index) =>
      [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
        .filter((back) => back <= index)
        .map((back) => `${countAt(index - back)}/${totalAt(index - back)}`)
        .join(' '),
  };
}
