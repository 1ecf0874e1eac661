import { History, HOUR, MINUTE, STALL_SECONDS } from './history.ts';
import { runNight, type Memory, type RunOptions, type Told } from './run.ts';
import type { LossNight } from './script.ts';
import { followInputs, type Inputs } from './task-inputs.ts';

type Fact = Exclude<keyof Told, 'expected'>;

/** What an exporter says of one subject, listing by listing. */
type Series = readonly (number | undefined)[];

/** What a fault may look at, besides the series that it changes. */
interface Context {
  readonly history: History;
  readonly inputs: Inputs;
  /** The server that the series is about. */
  readonly server: string;
}

/** A loss in a series: from the listing with which it begins to the one with which it is over. */
interface SeriesLoss {
  readonly begin: number;
  readonly end: number;
  readonly before: number;
}

/** A clause of METRICS.md that an exporter breaks, in what it says or in how it runs. */
export interface PlantedFault {
  readonly name: string;
  /** A night that finds it. */
  readonly seed: number;
  readonly fact?: Fact;
  readonly change?: (series: Series, context: Context) => Series;
  readonly run?: RunOptions;
}

/** Runs a night with a fault; `sound` is the night without it. */
export function plant(fault: PlantedFault, night: LossNight, sound: readonly Memory[]): readonly Memory[] {
  const { fact, change, run } = fault;
  if (run !== undefined) return runNight(night, run);
  if (fact === undefined || change === undefined) return sound;
  return sound.map((listings) => {
    const history = new History(night, listings);
    const inputs = followInputs(history);
    const subjects = ['servers', 'deliveries'].includes(fact) ? night.servers : [''];
    const changed = subjects.map((server): [string, Series] => {
      const series = listings.map(({ told }) => valueOf(told, fact, server));
      return [server, change(series, { history, inputs, server })];
    });
    return listings.map((listing, index) => ({
      ...listing,
      told: changed.reduce<Told>(
        (told, [server, series]) => withValue(told, fact, server, series[index]),
        listing.told,
      ),
    }));
  });
}

function valueOf(told: Told, fact: Fact, server: string): number | undefined {
  const value = told[fact];
  return typeof value === 'object' ? value.get(server) : value;
}

function withValue(told: Told, fact: Fact, server: string, value: number | undefined): Told {
  const before = told[fact];
  if (typeof before !== 'object') return { ...told, [fact]: value };
  const others = [...before].filter(([vsId]) => vsId !== server);
  return { ...told, [fact]: new Map(value === undefined ? others : [...others, [server, value]]) };
}

/** Changes when something is lost, and keeps what is known otherwise. */
function changeLosses(
  find: (losses: readonly SeriesLoss[], context: Context) => readonly SeriesLoss[],
): (series: Series, context: Context) => Series {
  return (series, context) => {
    const losses = find(listLosses(series), context);
    return series.map((_, index) => {
      const loss = losses.find(({ begin, end }) => index >= begin && index < end);
      if (loss !== undefined) return loss.before;
      const isKnown = context.history.seconds(0, index) >= HOUR || losses.some(({ end }) => end <= index);
      return context.server === '' && isKnown ? 0 : undefined;
    });
  };
}

function listLosses(series: Series): readonly SeriesLoss[] {
  const losses: SeriesLoss[] = [];
  for (let begin = 0; begin < series.length; begin += 1) {
    const before = series[begin] ?? 0;
    if (before === 0) continue;
    let end = begin;
    while (series[end] === before) end += 1;
    losses.push({ begin, end, before });
    begin = end - 1;
  }
  return losses;
}

/** Tells no losses of a kind. */
function hide(isHidden: (loss: SeriesLoss, context: Context) => boolean) {
  return changeLosses((losses, context) => losses.filter((loss) => !isHidden(loss, context)));
}

/** Tells a loss until something else, or later. */
function endWhen(isOver: (index: number, loss: SeriesLoss, context: Context) => boolean) {
  return changeLosses((losses, context) =>
    losses.map((loss, place) => {
      const last = losses[place + 1]?.begin ?? context.history.listings.length;
      let end = loss.begin + 1;
      while (end < last && !isOver(end, loss, context)) end += 1;
      return { ...loss, end };
    }),
  );
}

/** Tells losses that are none: with each listing for which there is a number before it. */
function tellAlso(find: (index: number, context: Context) => number | undefined) {
  return changeLosses((losses, context) => [
    ...losses,
    ...context.history.listings.flatMap((_, index) => {
      const before = find(index, context);
      return before === undefined ? [] : [{ begin: index, end: index + 1, before }];
    }),
  ]);
}

const begunEarlier = changeLosses((losses) =>
  losses.map((loss) => ({ ...loss, begin: Math.max(0, loss.begin - 1) })),
);

const afterAnHour = (index: number, { begin }: SeriesLoss, { history }: Context): boolean =>
  history.seconds(begin, index) > HOUR;

const countTasks = ({ history, server }: Context, index: number): number =>
  index < 0 || index >= history.listings.length
    ? 0
    : history.at(index).tasks.filter(({ vsId }) => server === '' || vsId === server).length;

const countUsers = ({ history }: Context, index: number): number => history.at(index).users;

const countFlowing = ({ inputs }: Context, index: number): number =>
  (inputs[index] ?? []).filter(({ isLive, hasChanged }) => isLive && hasChanged).length;

/** The live tasks that have received nothing for `stall_after`, also those that never have. */
const countIdle = ({ inputs }: Context, index: number): number =>
  (inputs[index] ?? []).filter(({ isLive, quietSeconds }) => isLive && quietSeconds >= STALL_SECONDS).length;

/** The largest number of a time before a listing. */
function findMost(
  count: (context: Context, index: number) => number,
  context: Context,
  index: number,
  seconds: number,
): number {
  let most = 0;
  for (let at = index - 1; at >= 0 && context.history.seenSeconds(at, index) <= seconds; at -= 1)
    most = Math.max(most, count(context, at));
  return most;
}

function countConnections({ history, server }: Context, index: number): number {
  const own = history.at(index).tasks.filter(({ vsId }) => vsId === server);
  return own.reduce((sum, { outputs }) => sum + (outputs[0]?.httpConnectionsNum ?? 0), 0);
}

function countDelivered({ history, server }: Context, index: number): number {
  const own = history.at(index).tasks.filter(({ vsId }) => vsId === server);
  return own.reduce((sum, { outputs }) => sum + (outputs[0]?.httpOutputBytes ?? 0), 0);
}

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  {
    name: 'tasks below half of at least 20, not 10, are a loss',
    seed: 2,
    fact: 'tasks',
    change: hide(
      ({ begin, before }, context) => before >= 10 && before < 20 && countTasks(context, begin) > 0,
    ),
  },
  {
    name: 'tasks below a third are a loss, not below half',
    seed: 12,
    fact: 'tasks',
    change: hide(({ begin, before }, context) => countTasks(context, begin) >= before / 3),
  },
  {
    name: 'less than 10 tasks that all end are no loss',
    seed: 3,
    fact: 'tasks',
    change: hide(({ before }) => before < 10),
  },
  {
    name: 'streams that end one by one are a loss',
    seed: 35,
    fact: 'tasks',
    change: tellAlso((index, context) => {
      const most = findMost(countTasks, context, index, 10 * MINUTE);
      return most >= 10 && countTasks(context, index) < most / 2 ? most : undefined;
    }),
  },
  {
    name: 'what is gone from one listing to the next has ended one by one',
    seed: 3,
    fact: 'tasks',
    change: hide(({ begin, before }, context) => countTasks(context, begin) + 2 >= before / 2),
  },
  {
    name: 'a number that one listing has is a level',
    seed: 77,
    fact: 'tasks',
    change: tellAlso((index, context) => {
      const before = countTasks(context, index - 1);
      return before >= 10 && countTasks(context, index) < before / 2 ? before : undefined;
    }),
  },
  {
    name: 'a loss of tasks is over when all are back',
    seed: 81,
    fact: 'tasks',
    change: endWhen(
      (index, loss, context) =>
        countTasks(context, index) >= loss.before || afterAnHour(index, loss, context),
    ),
  },
  {
    name: 'a loss of tasks goes on for more than an hour',
    seed: 7,
    fact: 'tasks',
    change: endWhen((index, { before }, context) => countTasks(context, index) >= before / 2),
  },
  {
    name: 'a loss of tasks is over after half an hour',
    seed: 2,
    fact: 'tasks',
    change: endWhen(
      (index, loss, context) =>
        countTasks(context, index) >= loss.before / 2 ||
        context.history.seconds(loss.begin, index) > HOUR / 2,
    ),
  },
  {
    name: 'users below half of at least 100, not 20, are a loss',
    seed: 13,
    fact: 'users',
    change: hide(({ before }) => before < 100),
  },
  {
    name: 'a loss of users is over when all are back',
    seed: 13,
    fact: 'users',
    change: endWhen(
      (index, loss, context) =>
        countUsers(context, index) >= loss.before || afterAnHour(index, loss, context),
    ),
  },
  {
    name: 'the users before a loss are those of the listing before it ends',
    seed: 13,
    fact: 'users',
    change: changeLosses((losses, context) =>
      losses.map((loss) => ({ ...loss, before: countUsers(context, loss.begin) })),
    ),
  },
  {
    name: 'what is unknown is 0',
    seed: 1,
    fact: 'ingest',
    change: (series) => series.map((value) => value ?? 0),
  },
  {
    name: 'what is known of one family is known of all',
    seed: 63,
    fact: 'tasks',
    change: (series, { history }) => {
      const ended = history.listings.findIndex(
        ({ told }, index) => told.users === 0 && history.seconds(0, index) < HOUR,
      );
      return series.map((value, index) => (ended >= 0 && index >= ended ? (value ?? 0) : value));
    },
  },
  { name: 'an outage is as long as it lasts, not one step', seed: 14, run: { pollIntervalMs: 1e12 } },
  { name: 'the state has no losses', seed: 21, run: { hasState: false } },
  {
    name: 'what falls silent one by one is deducted from a stop of ingest',
    seed: 25,
    fact: 'ingest',
    change: hide(
      ({ begin, before }, context) => findMost(countFlowing, context, begin, 3 * MINUTE) < before / 2,
    ),
  },
  {
    name: 'fewer than half of 8, not 4, are a stop of ingest',
    seed: 2,
    fact: 'ingest',
    change: hide(({ before }) => before < 8),
  },
  {
    name: 'tasks that have ended are a stop of ingest',
    seed: 2,
    fact: 'ingest',
    change: tellAlso((index, context) => {
      const most = findMost(countFlowing, context, index, 5 * MINUTE);
      return most >= 4 && countFlowing(context, index) < most / 4 ? most : undefined;
    }),
  },
  {
    name: 'tasks that wait for their first byte for long are part of a stop of ingest',
    seed: 18,
    fact: 'ingest',
    change: tellAlso((index, context) => {
      const most = findMost(countFlowing, context, index, 5 * MINUTE);
      const isStop = countFlowing(context, index) < most / 2 && countIdle(context, index) > most / 2;
      const silent = (context.inputs[index] ?? []).filter(({ quietSeconds }) => quietSeconds > 0);
      const waiting = silent.filter(({ task }) => task.inputBytes === 0).length;
      return most >= 4 && isStop && waiting > most / 2 ? most : undefined;
    }),
  },
  {
    name: 'tasks that have been silent for hours are part of a stop of ingest',
    seed: 5,
    fact: 'ingest',
    change: tellAlso((index, context) => {
      const flowing = countFlowing(context, index);
      const { longStalled } = context.history.at(index).told;
      return longStalled > flowing && flowing > 0 && longStalled + flowing >= 4
        ? longStalled + flowing
        : undefined;
    }),
  },
  {
    name: 'one listing without growth is enough for a stop of ingest',
    seed: 2,
    fact: 'ingest',
    change: begunEarlier,
  },
  {
    name: 'a stop of ingest is told after ten minutes',
    seed: 1,
    fact: 'ingest',
    change: changeLosses((losses, { history }) =>
      losses.map((loss) => {
        let { begin } = loss;
        while (begin < loss.end && history.seconds(loss.begin, begin) < 10 * MINUTE) begin += 1;
        return { ...loss, begin };
      }),
    ),
  },
  {
    name: 'restart loops are no stop of ingest',
    seed: 11,
    fact: 'ingest',
    change: hide(({ begin, before }, context) => countIdle(context, begin) <= before / 2),
  },
  {
    name: 'a stop of ingest is over when all receive',
    seed: 2,
    fact: 'ingest',
    change: endWhen((index, { before }, context) => countFlowing(context, index) >= before),
  },
  {
    name: 'a stop of ingest goes on where none is silent',
    seed: 2,
    fact: 'ingest',
    change: endWhen(
      (index, loss, context) =>
        countFlowing(context, index) >= loss.before / 2 || afterAnHour(index, loss, context),
    ),
  },
  {
    name: 'a stop of ingest is over after an hour, though the silent tasks are listed',
    seed: 25,
    fact: 'ingest',
    change: endWhen((index, loss, context) => index >= loss.end || afterAnHour(index, loss, context)),
  },
  {
    name: 'a drain is a loss of the server',
    seed: 3,
    fact: 'servers',
    change: tellAlso((index, context) => {
      const most = findMost(countTasks, context, index, 10 * MINUTE);
      const hasLeft = countTasks(context, index) === 0 && countTasks(context, index - 1) > 0;
      return most >= 2 && hasLeft ? most : undefined;
    }),
  },
  {
    name: 'a server that dies over two listings is not lost',
    seed: 142,
    fact: 'servers',
    change: hide(({ begin, before }, context) => {
      let left = begin;
      while (left > 0 && countTasks(context, left - 1) === 0) left -= 1;
      return countTasks(context, left - 1) < before;
    }),
  },
  {
    name: 'a server whose tasks go on elsewhere is lost',
    seed: 5,
    fact: 'servers',
    change: tellAlso((index, context) =>
      countTasks(context, index - 2) >= 2 &&
      countTasks(context, index - 1) >= 2 &&
      countTasks(context, index) === 0 &&
      context.history.at(index).tasks.length > 0
        ? countTasks(context, index - 1)
        : undefined,
    ),
  },
  {
    name: 'a server that is lost is told with the second listing',
    seed: 5,
    fact: 'servers',
    change: changeLosses((losses, context) =>
      losses.map((loss) => {
        let { begin } = loss;
        while (begin > 1 && countTasks(context, begin - 2) === 0) begin -= 1;
        return { ...loss, begin };
      }),
    ),
  },
  {
    name: 'a server is lost until it is back, though half of its tasks run again',
    seed: 84,
    fact: 'servers',
    change: endWhen(
      (index, loss, context) => countTasks(context, index) > 0 || afterAnHour(index, loss, context),
    ),
  },
  {
    name: 'a server is lost for more than an hour',
    seed: 10,
    fact: 'servers',
    change: endWhen((index, _loss, context) => countTasks(context, index) > 0),
  },
  {
    name: 'viewers of streams without input receive nothing',
    seed: 1,
    fact: 'deliveries',
    change: tellAlso((index, context) => {
      const connections = countConnections(context, index);
      const from = context.history.listings.findIndex(
        (_, at) => context.history.seconds(at, index) <= 2 * STALL_SECONDS,
      );
      const isQuiet = index - from >= 2 && countDelivered(context, from) === countDelivered(context, index);
      return connections >= 5 && isQuiet ? connections : undefined;
    }),
  },
  {
    name: 'fewer than five viewers end the watch of a delivery',
    seed: 14,
    fact: 'deliveries',
    change: endWhen((index, loss, context) => index >= loss.end || countConnections(context, index) < 5),
  },
  {
    name: 'a stop of delivery goes on for more than an hour',
    seed: 62,
    fact: 'deliveries',
    change: endWhen(
      (index, _loss, context) => countDelivered(context, index) !== countDelivered(context, index - 1),
    ),
  },
  {
    name: 'a delivery has stopped one listing earlier',
    seed: 8,
    fact: 'deliveries',
    change: begunEarlier,
  },
  {
    name: 'deliveries are watched where polls are more than two minutes apart',
    seed: 24,
    fact: 'deliveries',
    change: tellAlso((index, context) => {
      const connections = countConnections(context, index);
      const isRare = context.history.night.intervalSeconds > 2 * MINUTE;
      const isQuiet = index > 1 && countDelivered(context, index) === countDelivered(context, index - 2);
      return isRare && connections >= 5 && isQuiet ? connections : undefined;
    }),
  },
  {
    name: 'a task whose count begins again is stalled',
    seed: 18,
    fact: 'stalled',
    change: (series, { inputs, history }) =>
      series.map((value = 0, index) => {
        const isRare = history.step(index) >= STALL_SECONDS;
        const waiting = (inputs[index] ?? []).filter(
          ({ isLive, waits, hasChanged }) => isLive && waits && hasChanged,
        );
        return isRare ? value + waiting.length : value;
      }),
  },
  {
    name: 'the first listing after a gap shows no task as stalled',
    seed: 9,
    fact: 'stalled',
    change: (series, { history }) => series.map((value, index) => (history.isAfterGap(index) ? 0 : value)),
  },
  {
    name: 'tasks that were never seen to grow have stalled for less than an hour',
    seed: 1,
    fact: 'longStalled',
    change: (series, { history }) =>
      series.map((value, index) => (history.seconds(0, index) < HOUR ? 0 : value)),
  },
];
