import {
  countConnections,
  countListed,
  countReceiving,
  isLongSilent,
  isNameUp,
  MIN_INPUT_RATE,
  NIGHT_SECONDS,
  OUTPUTS,
  receives,
  STEP_SECONDS,
  STEPS,
  STEPS_OF_MINUTE,
  type Night,
  type NightCode,
} from './truth.ts';

/** An alert of a loss lasts an hour at most. */
const LOSS_STEPS = 55 * STEPS_OF_MINUTE;

/** A task is silent when nothing has arrived for `poll.stall_after`, which a poll must see. */
export const SILENCE_SECONDS = 75;

type Level = (step: number) => number;

/** Reads a level, also before the night. */
export function readLevel(level: Level, step: number): number {
  return level(Math.max(0, step));
}

/**
 * Finds the steps of losses: each begins where `begins` returns the level before it, and ends where `isOver`
 * says so, or after most of an hour.
 */
export function trackLoss(
  begins: (step: number) => number | undefined,
  isOver: (step: number, before: number) => boolean,
): ReadonlySet<number> {
  const steps = new Set<number>();
  let loss: { readonly before: number; readonly since: number } | undefined;
  for (let step = 0; step < STEPS; step += 1) {
    if (loss !== undefined && (isOver(step, loss.before) || step - loss.since > LOSS_STEPS)) loss = undefined;
    const before = loss === undefined ? begins(step) : undefined;
    if (before !== undefined) loss = { before, since: step };
    if (loss !== undefined) steps.add(step);
  }
  return steps;
}

/** What is true of a code, step by step. */
export class CodeTruth {
  readonly code: NightCode;
  readonly intervalMinutes: number;
  readonly intervalSteps: number;
  readonly listed: Level;
  readonly receiving: Level;
  readonly #night: Night;
  /** When the last good listing ended, in seconds, by step. */
  readonly #lastGood: Level;

  constructor(night: Night, code: NightCode) {
    this.#night = night;
    this.code = code;
    this.intervalMinutes = code.intervalSeconds / 60;
    this.intervalSteps = Math.ceil(code.intervalSeconds / STEP_SECONDS);
    this.listed = tabulate((second) => countListed(code, second));
    this.receiving = tabulate((second) => countReceiving(code, second));
    this.#lastGood = this.#tabulateListings();
  }

  #tabulateListings(): Level {
    let last = 0;
    const times: number[] = [];
    for (let second = 0; second < NIGHT_SECONDS; second += 1) {
      const polls = second % this.code.intervalSeconds === 0 && this.#runs(second);
      if (polls && this.code.answers.at(second)) last = second;
      if (second % STEP_SECONDS === 0) times.push(last);
    }
    return (step) => times[Math.max(0, step)] ?? 0;
  }

  #runs(second: number): boolean {
    return this.#night.replicas.some(({ isUp }) => isUp.at(second));
  }

  isWatched(step: number): boolean {
    return this.#runs(step * STEP_SECONDS);
  }

  isConfigured(step: number): boolean {
    return this.code.isConfigured.at(step * STEP_SECONDS);
  }

  /** Whether the last listing is current. */
  isKnown(step: number): boolean {
    const age = step * STEP_SECONDS - this.#lastGood(step);
    return this.isWatched(step) && age <= Math.max(2.5 * this.code.intervalSeconds, 40);
  }

  /** Whether polls fail for longer than three intervals. */
  isSilentApi(step: number): boolean {
    const age = step * STEP_SECONDS - this.#lastGood(step);
    return this.isWatched(step) && age > Math.max(3 * this.code.intervalSeconds, 40);
  }

  /** The share of polls that failed within five minutes. */
  failedShare(step: number): number {
    const { intervalSeconds, answers } = this.code;
    const now = step * STEP_SECONDS;
    let [polls, failed] = [0, 0];
    for (let poll = now - (now % intervalSeconds); poll >= Math.max(0, now - 300); poll -= intervalSeconds) {
      polls += 1;
      if (!answers.at(poll)) failed += 1;
    }
    return failed / polls;
  }

  users(step: number): number {
    return this.code.users.at(Math.max(0, step) * STEP_SECONDS);
  }

  isUp(name: string, step: number): boolean {
    return isNameUp(this.code, name, step * STEP_SECONDS);
  }

  hasFewOutputs(name: string, step: number): boolean {
    const second = step * STEP_SECONDS;
    const own = this.code.tasks.filter((task) => task.name === name && task.isListed.at(second));
    return own.length > 0 && own.every(({ outputs }) => outputs.at(second) < OUTPUTS);
  }

  isSlow(name: string, step: number): boolean {
    const second = step * STEP_SECONDS;
    const own = this.code.tasks.filter((task) => task.name === name && receives(task, second));
    return own.length > 0 && own.every(({ inputRate }) => inputRate.at(second) < MIN_INPUT_RATE);
  }

  deliversNothing(server: string, step: number): boolean {
    const second = step * STEP_SECONDS;
    const isFed = this.code.tasks.some((task) => task.server === server && receives(task, second));
    return isFed && this.code.delivery.get(server)?.at(second) === 0;
  }

  /** Tasks of a server that are listed and have become silent since the night began. */
  countStalled(server: string, step: number): number {
    const now = step * STEP_SECONDS;
    return this.code.tasks.filter(
      (task) =>
        task.server === server &&
        !isLongSilent(task) &&
        this.all(step - SILENCE_SECONDS / STEP_SECONDS, step, (at) => task.isListed.at(at * STEP_SECONDS)) &&
        task.inputRate.at(now) === 0 &&
        task.inputRate.at(now - SILENCE_SECONDS) === 0,
    ).length;
  }

  /**
   * Steps at which a server has delivered nothing for six minutes, to at least five viewers when they were
   * over.
   */
  findBlackholes(server: string): ReadonlySet<number> {
    const fails = (step: number): boolean => this.deliversNothing(server, step);
    return trackLoss(
      (step) =>
        step > 6.5 * STEPS_OF_MINUTE &&
        this.all(step - 6.5 * STEPS_OF_MINUTE, step, fails) &&
        countConnections(this.code, server, step * STEP_SECONDS) >= 6
          ? 1
          : undefined,
      // The watch lasts while viewers remain.
      (step) => !fails(step) || countConnections(this.code, server, step * STEP_SECONDS) === 0,
    );
  }

  /**
   * Steps from when most tasks that received data became silent, within some minutes, until half of them
   * receive it again.
   */
  findStops(
    minutes: number,
    share: number,
    silentSeconds: number,
    isSeen: (step: number) => boolean = () => true,
  ): ReadonlySet<number> {
    return trackLoss(
      (step) => {
        const then = Math.max(0, step - minutes * STEPS_OF_MINUTE) * STEP_SECONDS;
        const now = step * STEP_SECONDS;
        const received = this.code.tasks.filter((task) => receives(task, then));
        const silent = received.filter(
          (task) => task.isListed.at(now) && !receives(task, now) && !receives(task, now - silentSeconds),
        );
        const isMany = silent.length + this.receiving(step) >= 4 && silent.length > share * received.length;
        return isMany && this.receiving(step) < (1 - share) * received.length ? received.length : undefined;
      },
      (step, before) => isSeen(step) && this.receiving(step) >= 0.5 * before,
    );
  }

  /**
   * The level before a drop within two minutes: below half of at least `least`, or to 0 from at least
   * `leastOfAll`.
   */
  findDrop(level: Level, step: number, least: number, leastOfAll: number): number | undefined {
    const before = readLevel(level, step - 2 * STEPS_OF_MINUTE);
    const now = level(step);
    const isLoss = (before >= least && now < 0.45 * before) || (before >= leastOfAll && now === 0);
    return isLoss ? before : undefined;
  }

  /**
   * Steps from when a server left with at least half of its tasks, while others of the code run, until it is
   * back.
   */
  findDepartures(server: string): ReadonlySet<number> {
    const count = (step: number): number =>
      this.code.tasks.filter(
        (task) => task.server === server && task.isListed.at(Math.max(0, step) * STEP_SECONDS),
      ).length;
    return trackLoss(
      (step) => {
        const before = count(step - 1);
        const lost = readLevel(this.listed, step - 1) - this.listed(step);
        return before >= 2 && count(step) === 0 && this.listed(step) > 0 && lost >= before / 2
          ? before
          : undefined;
      },
      (step) => count(step) > 0 || this.listed(step) === 0,
    );
  }

  /**
   * Whether something is bad now, or comes and goes: bad for most of six minutes with at least four changes,
   * and within the last 75 seconds. Rare polls may not see it come and go: it must be bad for an interval.
   */
  isBad(isBadAt: (step: number) => boolean, step: number): boolean {
    if (this.code.intervalSeconds > STEP_SECONDS) return this.all(step - this.intervalSteps, step, isBadAt);
    if (isBadAt(step)) return true;
    if (step < 6 * STEPS_OF_MINUTE) return false;
    let [bad, changes] = [0, 0];
    for (let at = step - 6 * STEPS_OF_MINUTE + 1; at <= step; at += 1) {
      if (isBadAt(at)) bad += 1;
      if (isBadAt(at) !== isBadAt(at - 1)) changes += 1;
    }
    return bad > 6 * STEPS_OF_MINUTE * 0.5 && changes >= 4 && this.any(step - 5, step, isBadAt);
  }

  /**
   * Whether something has begun or ended at least three times within seven minutes: an alert on it outlasts
   * its end.
   */
  comesAndGoes(isBadAt: (step: number) => boolean, step: number): boolean {
    let changes = 0;
    for (let at = Math.max(1, step - 7 * STEPS_OF_MINUTE); at <= step; at += 1)
      if (isBadAt(at) !== isBadAt(at - 1)) changes += 1;
    return changes >= 3;
  }

  any(from: number, to: number, is: (step: number) => boolean): boolean {
    for (let step = Math.max(0, Math.floor(from)); step <= to; step += 1) if (is(step)) return true;
    return false;
  }

  all(from: number, to: number, is: (step: number) => boolean): boolean {
    for (let step = Math.max(0, Math.floor(from)); step <= to; step += 1) if (!is(step)) return false;
    return true;
  }
}

function tabulate(count: (second: number) => number): Level {
  const counts = Array.from({ length: STEPS }, (_, step) => count(step * STEP_SECONDS));
  return (step) => counts[Math.max(0, step)] ?? 0;
}
