import { Random } from '../random.ts';
import { Timeline } from '../night/timeline.ts';
import { INPUT_RATE, OUTPUTS } from '../night/truth.ts';
import type { ServiceCode, ServiceTask } from './service.ts';

const MINUTE = 60;
export const NIGHT_SECONDS = 150 * MINUTE;
const INTERVALS = [5, 15, 15, 15, 30, 60, 60, 240, 600];

export interface LossNight {
  readonly seed: number;
  readonly code: ServiceCode;
  readonly isUp: Timeline<boolean>;
  readonly hasState: boolean;
  /** Whether tasks end one by one at most, and none falls silent. */
  isCalm: boolean;
  readonly script: string[];
}

/** Imagines a night of one code in which one to three things go wrong. */
export function imagineLosses(seed: number): LossNight {
  const random = new Random(seed);
  const servers = ['s1', 's2', 's3', 's4'].slice(0, 1 + random.integer(4));
  const create = (inputRate: number): ServiceTask => ({
    name: undefined,
    server: random.pick(servers),
    isListed: new Timeline(true),
    inputRate: new Timeline(inputRate),
    outputs: new Timeline(OUTPUTS),
    restartSeconds: new Timeline(0),
  });
  const tasks = Array.from({ length: 1 + random.integer(30) }, () => create(INPUT_RATE));
  const zombies = Array.from({ length: random.chance(0.3) ? random.integer(20) : 0 }, () => create(0));
  const code: ServiceCode = {
    serviceCode: 'A',
    intervalSeconds: random.pick(INTERVALS),
    names: [],
    servers,
    tasks: [...tasks, ...zombies],
    expectedTasks: new Timeline(0),
    users: new Timeline(random.integer(400)),
    delivery: new Map(servers.map((server) => [server, new Timeline(1)])),
    answers: new Timeline(true),
    isConfigured: new Timeline(true),
    incidents: [],
  };
  const night: LossNight = {
    seed,
    code,
    isUp: new Timeline(true),
    hasState: random.chance(0.5),
    isCalm: true,
    script: [
      `${code.intervalSeconds} s, ${tasks.length} tasks, ${zombies.length} long silent, ${servers.length} servers`,
    ],
  };
  for (let count = 1 + random.integer(3); count > 0; count -= 1) random.pick(KINDS)(night, random, tasks);
  return night;
}

type Kind = (night: LossNight, random: Random, tasks: readonly ServiceTask[]) => void;

const moment = (random: Random): number => 5 * (5 * MINUTE + random.integer(16 * MINUTE));
const minutes = (random: Random, least: number, most: number): number =>
  least * MINUTE + 5 * random.integer((most - least) * 12);

const KINDS: readonly Kind[] = [
  function cut(night, random, tasks) {
    const from = moment(random);
    const to = from + minutes(random, 3, 90);
    const kept = random.integer(Math.ceil(tasks.length / 3));
    for (const [index, { inputRate }] of tasks.entries()) if (index >= kept) inputRate.set(0, from, to);
    const ends = random.chance(0.4) ? from + minutes(random, 3, 8) : undefined;
    if (ends !== undefined) for (const { isListed } of tasks.slice(kept)) isListed.set(false, ends, to);
    night.isCalm = false;
    night.script.push(
      `cut from ${from} to ${to} but for ${kept}${ends === undefined ? '' : `, ended at ${ends}`}`,
    );
  },
  function restartLoop(night, random, tasks) {
    const from = moment(random);
    const to = from + minutes(random, 8, 40);
    const every = 20 + 5 * random.integer(6);
    for (const { inputRate, restartSeconds } of tasks) {
      inputRate.set(0, from, to);
      restartSeconds?.set(every, from, to);
    }
    night.isCalm = false;
    night.script.push(`restart loop of ${every} s from ${from} to ${to}`);
  },
  function loss(night, random, tasks) {
    const from = moment(random);
    const to = random.chance(0.5) ? from + minutes(random, 1, 90) : Infinity;
    const count = Math.ceil(tasks.length * (0.3 + 0.7 * random.next()));
    const pause = random.chance(0.4) ? 10 * random.integer(4) : 0;
    for (const [index, { isListed }] of tasks.slice(0, count).entries())
      isListed.set(false, from, to + index * pause);
    night.isCalm = false;
    night.script.push(`loss of ${count} from ${from} to ${to}, back every ${pause} s`);
  },
  function evening(night, random, tasks) {
    const from = moment(random) - 10 * MINUTE;
    const pause = 75 + 5 * random.integer(20);
    for (const [index, { isListed }] of tasks.entries()) isListed.set(false, from + index * pause);
    night.script.push(`evening from ${from}, one every ${pause} s`);
  },
  function glitch(night, random, tasks) {
    const { intervalSeconds: interval } = night.code;
    const from = Math.ceil(moment(random) / interval) * interval;
    // One listing has all that is to come.
    const half = tasks.slice(Math.floor(tasks.length / 2));
    for (const { isListed } of half) {
      isListed.set(false, -Infinity, from);
      isListed.set(false, from + interval);
    }
    night.script.push(`one listing with ${half.length} more at ${from}`);
  },
  function serverLeaves(night, random) {
    const { servers, tasks } = night.code;
    const server = random.pick(servers);
    const from = moment(random);
    const to = from + minutes(random, 2, 80);
    for (const task of tasks) if (task.server === server) task.isListed.set(false, from, to);
    night.isCalm = false;
    night.script.push(`${server} leaves from ${from} to ${to}`);
  },
  function drain(night, random) {
    const { servers, tasks } = night.code;
    const server = random.pick(servers);
    const from = moment(random);
    const pause = 75 + 5 * random.integer(10);
    const own = tasks.filter((task) => task.server === server);
    for (const [index, { isListed }] of own.entries()) isListed.set(false, from + index * pause);
    night.script.push(`${server} is drained from ${from}, one every ${pause} s`);
  },
  function deliveryStops(night, random) {
    const { delivery, users } = night.code;
    const from = moment(random);
    const to = from + minutes(random, 3, 80);
    for (const share of delivery.values()) if (random.chance(0.6)) share.set(0, from, to);
    const leave = random.chance(0.4) ? from + minutes(random, 2, 20) : undefined;
    if (leave !== undefined) users.set(2, leave, to);
    night.script.push(
      `delivery stops from ${from} to ${to}${leave === undefined ? '' : `, viewers leave at ${leave}`}`,
    );
  },
  function usersLeave(night, random) {
    const from = moment(random);
    const to = random.chance(0.5) ? from + minutes(random, 1, 80) : Infinity;
    night.code.users.set(random.integer(30), from, to);
    night.script.push(`users leave from ${from} to ${to}`);
  },
  function outage(night, random, tasks) {
    const from = moment(random);
    const to = from + minutes(random, 1, 40);
    night.code.answers.set(false, from, to);
    const isEmpty = random.chance(0.4);
    if (isEmpty)
      for (const { isListed } of tasks) isListed.set(false, from + MINUTE, to + minutes(random, 5, 60));
    // What ends meanwhile, ends in one step.
    night.isCalm = false;
    night.script.push(`outage from ${from} to ${to}${isEmpty ? ', empty after it' : ''}`);
  },
  function failedPolls(night, random) {
    const { intervalSeconds: interval, answers } = night.code;
    for (let count = 8; count > 0; count -= 1) {
      const poll = Math.floor(moment(random) / interval) * interval;
      answers.set(false, poll, poll + interval);
    }
    night.script.push('single polls fail');
  },
  function restart(night, random) {
    const from = moment(random);
    const to = from + 10 + 5 * random.integer(random.chance(0.7) ? 12 : 120);
    night.isUp.set(false, from, to);
    night.script.push(`restart ${night.hasState ? 'with' : 'without'} state from ${from} to ${to}`);
  },
];
