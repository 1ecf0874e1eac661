import { HOUR, MINUTE, STALL_SECONDS, type Bounds, type History, type Level } from './history.ts';
import type { LossRules, ToldLoss } from './loss-oracle.ts';
import { canFlow, flows, isSilent, type Inputs, type TaskInput } from './task-inputs.ts';

const LEAST_TASKS = 4;
/** Tasks that restart faster than `stall_after` have received nothing for so long. */
const RESTARTING_SECONDS = 2 * MINUTE;

/** The live tasks of a listing. */
interface Ingest {
  readonly flowing: Bounds;
  /** They have never had input, and are younger than `stall_after`. */
  readonly blank: Bounds;
  readonly silent: readonly TaskInput[];
  /** Those that may be silent, whose input may have grown. */
  readonly maybeSilent: readonly TaskInput[];
}

export function createIngestRules(history: History, inputs: Inputs): LossRules {
  const ingests = inputs.map((tasks, index) => countIngest(tasks, history.second(index)));
  const flowing = ingests.map((ingest) => ingest.flowing);
  const at = (index: number): Ingest => ingests[index] ?? NONE;

  /** Between the first listing that shows a stop, with which its hour begins, and the one that tells it. */
  const longestDoubt = Math.max(RESTARTING_SECONDS, history.night.intervalSeconds);

  /** What must receive nothing for certain: it was a part of the level. */
  const countSilent = (index: number, level: Level): number =>
    at(index).silent.filter(({ changedSecond }) => changedSecond >= history.second(level.index - 1)).length;
  const isStop = (index: number, level: Level): boolean =>
    at(index).flowing.most + at(index).blank.most < level.least / 2 &&
    countSilent(index, level) > level.most / 2;
  const isRestarting = (index: number, level: Level): boolean =>
    at(index).flowing.most < level.least / 2 &&
    countSilent(index, level) + at(index).blank.least > level.most / 2;

  const countMaybeSilent = (index: number, listings: number): number =>
    at(index).maybeSilent.filter(
      ({ changedSecond, quietListings }) =>
        history.second(index) - changedSecond <= HOUR && quietListings >= listings,
    ).length;
  const canBeStop = (index: number, level: Level): boolean =>
    at(index).flowing.least + at(index).blank.least < level.most / 2 &&
    countMaybeSilent(index, 2) + at(index).blank.most > level.least / 2;
  const canBeRestarting = (index: number, level: Level): boolean =>
    at(index).flowing.least < level.most / 2 &&
    countMaybeSilent(index, 1) + at(index).blank.most > level.least / 2;

  /** Whether something has been so for two minutes. */
  const isLasting = (
    index: number,
    elapsed: (from: number, to: number) => number,
    is: (index: number) => boolean,
  ): boolean => {
    for (let from = index; from >= 0 && is(from); from -= 1)
      if (elapsed(from, index) >= RESTARTING_SECONDS) return true;
    return false;
  };
  /** One listing that shows a stop after failed polls is one without growth: the next one tells it. */
  const isAfterFailedPoll = (index: number): boolean =>
    history.step(index) > history.night.intervalSeconds && history.step(index) >= STALL_SECONDS;
  /** A stop begins with the second listing that shows it, or after two minutes: levels are those before. */
  const listLevels = (index: number, since: number, laterListings: number): readonly Level[] =>
    [...Array(Math.floor(laterListings) + 1).keys()].flatMap((later) =>
      history.listLevels(flowing, index - later, since),
    );
  /** Those that have fallen silent at most so long before a stop was told: others are no part of it. */
  const countPart = (tasks: readonly TaskInput[], { begun }: ToldLoss, seconds: number): number =>
    tasks.filter(({ changedSecond }) => changedSecond > history.second(begun) - seconds).length;

  return {
    fact: 'ingest',
    told: (index) => history.at(index).told.ingest,
    isAbsentWithout: false,
    isDue: (index, end) =>
      !isAfterFailedPoll(index) &&
      listLevels(index, end, history.step(index) >= STALL_SECONDS ? 1 : 0).some(
        (level, _, levels) =>
          level.least >= LEAST_TASKS &&
          // What receives has fallen from the larger level that came later.
          !levels.some((later) => later.index > level.index && later.most > level.most) &&
          (isStop(index, level) ||
            isLasting(index, history.seenSeconds, (one) => one > level.index && isRestarting(one, level))),
      ),
    listAllowed: (index, begin) =>
      listLevels(index, begin, RESTARTING_SECONDS / history.night.intervalSeconds + 2)
        .filter(
          (level) =>
            level.most >= LEAST_TASKS &&
            (canBeStop(index, level) ||
              isLasting(index, history.seconds, (one) => canBeRestarting(one, level))),
        )
        .map(({ least, most }) => ({ least: Math.max(least, LEAST_TASKS), most })),
    isOver: (index, loss) =>
      at(index).flowing.least >= loss.before / 2 ||
      (at(index).flowing.least >= LEAST_TASKS &&
        at(index).blank.most === 0 &&
        countPart(at(index).maybeSilent, loss, HOUR) === 0) ||
      (history.seconds(loss.begun, index) > HOUR &&
        at(index).maybeSilent.length + at(index).blank.most === 0),
    canBeOver: (index, loss) =>
      at(index).flowing.most >= loss.before / 2 ||
      (at(index).flowing.most >= LEAST_TASKS &&
        countPart(at(index).silent, loss, STALL_SECONDS + longestDoubt) === 0) ||
      (history.seconds(loss.begun, index) >= HOUR - longestDoubt &&
        2 * at(index).silent.length <= loss.before),
    describe: (index) =>
      [7, 6, 5, 4, 3, 2, 1, 0]
        .map((back) => ingests[index - back] ?? NONE)
        .map(
          ({ flowing: { least, most }, blank, silent, maybeSilent }) =>
            `${least}-${most}/${silent.length}-${maybeSilent.length}/${blank.most}`,
        )
        .join(' '),
  };
}

const NONE: Ingest = {
  flowing: { least: 0, most: 0 },
  blank: { least: 0, most: 0 },
  silent: [],
  maybeSilent: [],
};

function countIngest(inputs: readonly TaskInput[], second: number): Ingest {
  const isBlank = ({ isLive, hasHadInput, firstSecond }: TaskInput): boolean =>
    isLive && !hasHadInput && second - firstSecond < STALL_SECONDS;
  return {
    flowing: { least: inputs.filter(flows).length, most: inputs.filter(canFlow).length },
    blank: {
      least: inputs.filter((input) => isBlank(input) && !input.isOfFirstListing && !input.waits).length,
      most: inputs.filter(isBlank).length,
    },
    silent: inputs.filter((input) => input.isLive && input.hasGrown === true && isSilent(input, 2)),
    maybeSilent: inputs.filter(
      ({ isLive, hasGrown, canBeSilent }) => isLive && hasGrown !== false && canBeSilent,
    ),
  };
}
