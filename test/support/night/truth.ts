import type { Random } from '../random.ts';
import { Timeline } from './timeline.ts';

/** How long a night lasts, and how often Prometheus scrapes and evaluates. */
export const NIGHT_SECONDS = 90 * 60;
export const STEP_SECONDS = 15;
export const STEPS_OF_MINUTE = 60 / STEP_SECONDS;
export const STEPS = NIGHT_SECONDS / STEP_SECONDS;

/** What a task receives in bytes per second if all is well, and the minimum of expected streams. */
export const INPUT_RATE = 500_000;
export const MIN_INPUT_RATE = 400_000;
/** What a connection receives in bytes per second if all is well. */
export const OUTPUT_RATE = 250_000;
/** Outputs of a task if all is well. */
export const OUTPUTS = 3;

export interface NightTask {
  readonly name: string | undefined;
  readonly server: string;
  readonly isListed: Timeline<boolean>;
  /** Bytes per second; 0 while nothing arrives. */
  readonly inputRate: Timeline<number>;
  readonly outputs: Timeline<number>;
}

/** Something that happens to a code, at one time. */
export interface Incident {
  readonly kind: string;
  /** The streams or servers that it happens to, in words. */
  readonly about: string;
  readonly from: number;
  readonly to: number;
}

export interface NightCode {
  readonly serviceCode: string;
  readonly intervalSeconds: number;
  readonly names: readonly string[];
  readonly servers: readonly string[];
  readonly tasks: readonly NightTask[];
  /** `tasks` of `expect`, or the number of names. */
  readonly expectedTasks: Timeline<number>;
  readonly users: Timeline<number>;
  /** The share of what viewers should receive, by server. */
  readonly delivery: ReadonlyMap<string, Timeline<number>>;
  /** Whether the service answers polls of the code. */
  readonly answers: Timeline<boolean>;
  readonly isConfigured: Timeline<boolean>;
  readonly incidents: Incident[];
}

/** A process of the exporter. */
export interface Replica {
  readonly instance: string;
  readonly isUp: Timeline<boolean>;
  readonly hasState: boolean;
}

/** A silence of the operator: all labels must be equal. */
export interface Silence {
  readonly from: number;
  readonly to: number;
  readonly matchers: Readonly<Record<string, string>>;
}

/** What truly happens in a night. */
export interface Night {
  readonly seed: number;
  readonly codes: readonly NightCode[];
  readonly replicas: readonly Replica[];
  /** Seconds by which the scrapes of each Prometheus are shifted. */
  readonly phases: readonly number[];
  readonly silences: Silence[];
  /** What goes wrong, in words. */
  readonly script: string[];
}

const INTERVALS = [5, 15, 15, 15, 15, 15, 15, 60, 240];
const NAMES = ['main', 'backup', 'audio'];

/** Creates a night in which nothing goes wrong yet. */
export function createQuietNight(seed: number, random: Random): Night {
  const script: string[] = [];
  const codes = ['A', 'B', 'C', 'D', 'E', 'F']
    .slice(0, 3 + random.integer(4))
    .map((serviceCode) => createCode(serviceCode, random, script));
  const replicaCount = random.chance(0.25) ? 2 : 1;
  const replicas = ['a:20928', 'b:20928'].slice(0, replicaCount).map((instance) => ({
    instance,
    isUp: new Timeline(true),
    hasState: random.chance(0.5),
  }));
  const phases = random.chance(0.15) ? [0, 7] : [0];
  if (replicaCount > 1) script.push('two replicas');
  if (phases.length > 1) script.push('two Prometheus');
  return { seed, codes, replicas, phases, silences: [], script };
}

function createCode(serviceCode: string, random: Random, script: string[]): NightCode {
  const names = random.chance(0.7) ? NAMES.slice(0, 1 + random.integer(3)) : [];
  const servers = ['s1', 's2', 's3'].slice(0, 1 + random.integer(3));
  const create = (name: string | undefined): NightTask => ({
    name,
    server: random.pick(servers),
    isListed: new Timeline(true),
    inputRate: new Timeline(INPUT_RATE),
    outputs: new Timeline(OUTPUTS),
  });
  const others = Array.from({ length: 4 + random.integer(19) }, () => create(undefined));
  const zombieCount = random.chance(0.25) ? 3 + random.integer(3) : 0;
  const zombies = Array.from({ length: zombieCount }, () => create(undefined));
  const hidden = names.length > 0 && random.chance(0.15) ? random.pick(names) : undefined;
  if (hidden !== undefined) zombies.push(create(hidden));
  for (const { inputRate } of zombies) inputRate.set(0, -Infinity);
  const intervalSeconds = random.pick(INTERVALS);
  if (zombieCount > 0) script.push(`${serviceCode}: ${zombieCount} tasks have been silent for days`);
  if (hidden !== undefined)
    script.push(`${serviceCode}: a task of the name ${hidden} has been silent for days too`);
  if (intervalSeconds !== STEP_SECONDS) script.push(`${serviceCode}: polled every ${intervalSeconds} s`);
  const running = names.length + others.length;
  const expected = random.chance(0.4) ? Math.max(names.length, running - random.integer(3)) : names.length;
  return {
    serviceCode,
    intervalSeconds,
    names,
    servers,
    tasks: [...names.map(create), ...others, ...zombies],
    expectedTasks: new Timeline(expected),
    users: new Timeline(20 + random.integer(380)),
    delivery: new Map(servers.map((server) => [server, new Timeline(1)])),
    answers: new Timeline(true),
    isConfigured: new Timeline(true),
    incidents: [],
  };
}

export function receives({ isListed, inputRate }: NightTask, second: number): boolean {
  return isListed.at(second) && inputRate.at(second) > 0;
}

/** Whether a task has received nothing since days before the night. */
export function isLongSilent({ inputRate }: NightTask): boolean {
  return inputRate.at(0) === 0;
}

export function countListed({ tasks }: NightCode, second: number): number {
  return tasks.filter(({ isListed }) => isListed.at(second)).length;
}

export function countReceiving({ tasks }: NightCode, second: number): number {
  return tasks.filter((task) => receives(task, second)).length;
}

export function isNameUp({ tasks }: NightCode, name: string, second: number): boolean {
  return tasks.some((task) => task.name === name && receives(task, second));
}

/**
 * Connections to the outputs on a server: half of the users watch over HTTP, on the servers that have tasks.
 */
export function countConnections(code: NightCode, server: string, second: number): number {
  const hasTasks = (one: string): boolean =>
    code.tasks.some((task) => task.server === one && task.isListed.at(second));
  if (!hasTasks(server)) return 0;
  return Math.floor(code.users.at(second) / 2 / code.servers.filter(hasTasks).length);
}

/** Bytes per second that a server delivers: tasks without input have nothing to deliver. */
export function computeEgress(code: NightCode, server: string, second: number): number {
  const listed = code.tasks.filter((task) => task.server === server && task.isListed.at(second));
  const flowing = listed.filter((task) => receives(task, second)).length / Math.max(1, listed.length);
  const share = code.delivery.get(server)?.at(second) ?? 0;
  return countConnections(code, server, second) * OUTPUT_RATE * share * flowing;
}
