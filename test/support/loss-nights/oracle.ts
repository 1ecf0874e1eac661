import { countConnections, receives } from '../night/truth.ts';
import type { LossNight } from './imagine.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
/** `poll.stall_after`. */
const STALL = 60;

/** What a process exposes with a good listing; NaN is unknown. */
export interface LossListing {
  readonly second: number;
  /** Good listings since the process started, this one included; with state, since the first. */
  readonly ofProcess: number;
  readonly tasks: number;
  readonly users: number;
  readonly ingest: number;
  readonly servers: ReadonlyMap<string, number>;
  readonly deliveries: ReadonlyMap<string, number>;
}

export interface LossViolation {
  readonly fact: string;
  readonly clause: 'told' | 'not over' | 'over' | 'calm' | 'true';
  readonly second: number;
  readonly reason: string;
}

type Level = (second: number) => number;

/** Compares what was exposed with what was true at the moments of the listings. */
export function judgeLosses(night: LossNight, listings: readonly LossListing[]): readonly LossViolation[] {
  const { code } = night;
  const listed: Level = (second) => code.tasks.filter((task) => task.isListed.at(second)).length;
  const users: Level = (second) => code.users.at(second);
  return [
    ...judgeLevel(night, listings, 'tasks', listed, 10, 1),
    ...judgeLevel(night, listings, 'users', users, 20, Infinity),
    ...judgeIngest(night, listings),
    ...code.servers.flatMap((server) => judgeServer(night, listings, server)),
    ...code.servers.flatMap((server) => judgeDelivery(night, listings, server)),
  ];
}

function judgeLevel(
  { code, isCalm }: LossNight,
  listings: readonly LossListing[],
  fact: 'tasks' | 'users',
  level: Level,
  leastOfHalf: number,
  leastOfAll: number,
): readonly LossViolation[] {
  const violations: LossViolation[] = [];
  const found = (clause: LossViolation['clause'], second: number, reason: string): void => {
    violations.push({ fact, clause, second, reason });
  };
  let loss: { before: number; since: number } | undefined;
  for (const [index, listing] of listings.entries()) {
    const { second, ofProcess } = listing;
    const now = level(second);
    const told = listing[fact];
    const at = (back: number) => listings[index - back];
    const number = (back: number) => level(at(back)?.second ?? second);
    // All within two listings, from a level that two had, and that are not older than an hour.
    const before = Math.min(number(2), number(3));
    const isRecent = second - (at(2)?.second ?? 0) < HOUR - MINUTE;
    const isClear =
      code.intervalSeconds <= 5 * MINUTE &&
      now < 0.4 * before &&
      before >= leastOfHalf &&
      (code.intervalSeconds < 60 || now + 4 < before / 2);
    const atOnce = Math.min(number(1), number(2));
    const isAtOnce = (now < atOnce / 2 && atOnce >= leastOfHalf) || (now === 0 && atOnce >= leastOfAll);
    const isAtOnceRecent = second - (at(1)?.second ?? 0) < HOUR - MINUTE;
    if (!(told > 0) && loss === undefined) {
      if (ofProcess > 3 && isClear && isRecent) found('told', second, `${before} → ${now}`);
      else if (ofProcess > 2 && isAtOnce && isAtOnceRecent)
        found('told', second, `${atOnce} → ${now} at once`);
    }
    if (loss !== undefined) {
      const age = second - loss.since;
      const isOver = now >= loss.before / 2 || age > HOUR;
      if (told === 0 && !isOver) found('not over', second, `${now} of ${loss.before}`);
      // Another may begin in the listing with which one is over.
      const isSame = told === loss.before;
      if (isSame && isOver) found('over', second, `${now} of ${loss.before} after ${age} s`);
      if (told > 0 && !isSame && !isOver) found('true', second, `${loss.before} becomes ${told}`);
      // Unknown to a process without state: rules remember it.
      if (isOver || told === 0) loss = undefined;
    }
    if (told > 0 && loss === undefined) {
      loss = { before: told, since: second };
      if (2 * now >= told) found('true', second, `${now} of ${told}`);
      const recent = listings
        .slice(Math.max(0, index - 130), index)
        .filter((one) => one.second >= second - HOUR);
      if (!recent.some((one) => level(one.second) >= told)) found('calm', second, `never ${told}`);
      if (fact === 'tasks' && isCalm && told > 2 && code.intervalSeconds <= 60)
        found('calm', second, `${told} that end one by one`);
    }
  }
  return violations;
}

function judgeIngest(
  { code, isCalm }: LossNight,
  listings: readonly LossListing[],
): readonly LossViolation[] {
  const violations: LossViolation[] = [];
  const found = (clause: LossViolation['clause'], second: number, reason: string): void => {
    violations.push({ fact: 'ingest', clause, second, reason });
  };
  const { tasks, intervalSeconds: interval } = code;
  const live = tasks.filter(({ inputRate }) => inputRate.at(0) > 0);
  const receiving: Level = (second) => live.filter((task) => receives(task, second)).length;
  const unfed: Level = (second) =>
    live.filter((task) => task.isListed.at(second) && !receives(task, second)).length;
  let stop: { before: number; since: number } | undefined;
  // The first good listing since which the truth has it, and the level before.
  let true_: { before: number; since: number; listings: number } | undefined;
  for (const [index, { second, ingest: told, ofProcess }] of listings.entries()) {
    const now = receiving(second);
    const [one, two] = [listings[index - 1], listings[index - 2]];
    if (true_ !== undefined) {
      if (now >= 0.45 * true_.before || 2 * unfed(second) <= 1.1 * true_.before) true_ = undefined;
      else true_ = { ...true_, listings: true_.listings + 1 };
    }
    if (true_ === undefined && one && two && ofProcess > 4) {
      const before = Math.min(receiving(one.second), receiving(two.second));
      const isStop = before >= 4 && now < 0.45 * before && 2 * unfed(second) > 1.1 * before;
      if (isStop && second - one.second < 30 * MINUTE) true_ = { before, since: second, listings: 1 };
    }
    if (true_ !== undefined && stop === undefined && !(told > 0)) {
      const due = STALL + 2 * MINUTE + 2 * interval;
      if (second - true_.since > due && true_.listings > 3 && ofProcess > true_.listings + 2)
        found('told', second, `${true_.before} → ${now}, ${unfed(second)} unfed`);
    }
    if (stop !== undefined) {
      const age = second - stop.since;
      const isOver = now >= stop.before / 2;
      const level = stop.before;
      // What flowed within a minute counts.
      const hadFlow = listings
        .slice(Math.max(0, index - 14), index)
        .some(
          (before) => second - before.second <= STALL + interval && receiving(before.second) >= level / 2,
        );
      if (told === 0 && !isOver && !hadFlow && age <= HOUR - 4 * MINUTE)
        found('not over', second, `${now} of ${stop.before}`);
      const wasOver = one !== undefined && receiving(one.second) >= stop.before / 2;
      if (told > 0 && isOver && wasOver && ofProcess > 2) found('over', second, `${now} of ${stop.before}`);
      if (told === 0 || (isOver && wasOver)) stop = undefined;
    }
    if (told > 0 && stop === undefined) {
      stop = { before: told, since: second };
      const recent = listings
        .slice(Math.max(0, index - 160), index + 1)
        .filter((before) => before.second >= second - HOUR - 15 * MINUTE);
      const most = Math.max(...recent.map((before) => receiving(before.second)));
      if (most < told || now >= told / 2)
        found('calm', second, `${told}, ${most} of which received, ${now} do`);
      if (2 * unfed(second) <= 0.9 * told && 2 * unfed(one?.second ?? 0) <= 0.9 * told)
        found('calm', second, `${told}, ${unfed(second)} unfed`);
      if (isCalm) found('calm', second, `${told} in a calm night`);
    }
  }
  return violations;
}

function judgeServer(
  { code }: LossNight,
  listings: readonly LossListing[],
  server: string,
): readonly LossViolation[] {
  const violations: LossViolation[] = [];
  const found = (clause: LossViolation['clause'], second: number, reason: string): void => {
    violations.push({ fact: `server ${server}`, clause, second, reason });
  };
  const own: Level = (second) =>
    code.tasks.filter((task) => task.server === server && task.isListed.at(second)).length;
  const all: Level = (second) => code.tasks.filter((task) => task.isListed.at(second)).length;
  let since: number | undefined;
  for (const [index, { second, servers, ofProcess }] of listings.entries()) {
    const told = servers.get(server) ?? 0;
    const before = listings[index - 1];
    const then = before === undefined ? 0 : own(before.second);
    const lost = (before === undefined ? 0 : all(before.second)) - all(second);
    const hasLeft = then >= 2 && own(second) === 0 && all(second) > 0;
    const recent = listings.slice(Math.max(0, index - 130), index);
    // A server that had more was being drained.
    const isSteady = recent.every((one) => own(one.second) <= then);
    if (since !== undefined && (own(second) > 0 || second - since > HOUR)) {
      if (told > 0) found('over', second, `${own(second)} after ${second - since} s`);
      since = undefined;
    } else if (since !== undefined && told === 0 && ofProcess > index)
      found('not over', second, 'it is away');
    else if (
      since === undefined &&
      ofProcess > 1 &&
      hasLeft &&
      isSteady &&
      2 * lost >= then &&
      told === 0 &&
      second - (before?.second ?? 0) < HOUR - MINUTE
    )
      found('told', second, `${then} tasks, ${lost} lost`);
    else if (since === undefined && told > 0) {
      const lately = recent.filter((one) => second - one.second < 8 * MINUTE);
      const most = Math.max(then, ...lately.map((one) => own(one.second)));
      if (!(hasLeft && 2 * lost >= most)) found('calm', second, `${most} tasks, ${lost} lost`);
      since = second;
    }
    if (told > 0) since ??= second;
  }
  return violations;
}

function judgeDelivery(
  { code }: LossNight,
  listings: readonly LossListing[],
  server: string,
): readonly LossViolation[] {
  const violations: LossViolation[] = [];
  const found = (clause: LossViolation['clause'], second: number, reason: string): void => {
    violations.push({ fact: `delivery ${server}`, clause, second, reason });
  };
  const { intervalSeconds: interval } = code;
  if (interval > 2 * MINUTE) return [];
  const isFed = (second: number): boolean =>
    code.tasks.some((task) => task.server === server && receives(task, second));
  // The viewers watch the first task of a server.
  const first = (second: number) =>
    code.tasks.find((task) => task.server === server && task.isListed.at(second));
  const isSilent = (second: number): boolean => code.delivery.get(server)?.at(second) === 0;
  let since: number | undefined;
  let steady = 0;
  for (const [index, { second, deliveries, ofProcess }] of listings.entries()) {
    const told = deliveries.get(server) ?? 0;
    const before = listings[index - 1];
    const connections = countConnections(code, server, second);
    const isHeld =
      isSilent(second) &&
      isFed(second) &&
      connections >= 5 &&
      before !== undefined &&
      first(before.second) === first(second) &&
      ofProcess > 1;
    if (isHeld) since ??= second;
    else [since, steady] = [undefined, 0];
    steady = isHeld ? steady + 1 : 0;
    if (since !== undefined && second - since > STALL + 2 * interval && steady > 3 && told === 0)
      found('told', second, `${connections} since ${since}`);
    if (told > 0) {
      const flows =
        !isSilent(second) &&
        before !== undefined &&
        !isSilent(before.second) &&
        isFed(second) &&
        first(before.second) === first(second) &&
        isFed(before.second) &&
        connections > 0;
      if (flows && ofProcess > 1) found('over', second, 'it delivers');
      const recent = listings.slice(Math.max(0, index - 30), index + 1);
      const wasSilent =
        (listings[index - 1]?.deliveries.get(server) ?? 0) > 0 ||
        recent.some((one) => isSilent(one.second) && isFed(one.second) && second - one.second <= 3 * MINUTE);
      if (!wasSilent) found('calm', second, 'it has delivered');
    }
  }
  return violations;
}
