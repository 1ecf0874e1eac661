import type { TaskRecord } from '../listing-records.ts';
import { HOUR, MINUTE, STALL_SECONDS, type Bounds, type History } from './history.ts';
import type { LossRules } from './loss-oracle.ts';
import { canFlow, flows, type Inputs, type TaskInput } from './task-inputs.ts';

/** So many begin the watch. */
const LEAST_CONNECTIONS = 5;
const LONGEST_INTERVAL_SECONDS = 2 * MINUTE;

/** What a server delivers to the connections of tasks whose own input flows, as a listing shows it. */
interface Delivery {
  readonly connections: Bounds;
  /** Whether bytes have been delivered. */
  readonly flows: boolean;
  /** Whether they may have been. */
  readonly canFlow: boolean;
  /** Since when viewers are watched who may have received nothing, and those who certainly have not. */
  readonly quietFrom: number;
  readonly canBeQuietFrom: number;
  readonly isWatched: boolean;
  readonly canBeWatched: boolean;
}

/** The one format that the service meters. */
export function createDeliveryRules(history: History, inputs: Inputs, server: string): LossRules {
  const deliveries = followDelivery(history, inputs, server);
  const at = (index: number): Delivery => deliveries[index] ?? NOTHING;
  const isQuiet = (from: number, index: number): boolean =>
    index - from >= 2 && history.seconds(from, index) >= STALL_SECONDS;
  return {
    fact: `delivery ${server}`,
    told: (index) => history.at(index).told.deliveries.get(server),
    isAbsentWithout: true,
    isDue: (index, end) =>
      at(index).isWatched && at(index).quietFrom >= end && isQuiet(at(index).quietFrom, index),
    listAllowed: (index) => {
      const { canBeWatched, canBeQuietFrom: from } = at(index);
      if (history.night.intervalSeconds > LONGEST_INTERVAL_SECONDS) return [];
      if (!canBeWatched || !isQuiet(from, index)) return [];
      const connections = deliveries.slice(Math.max(0, from - 1), index + 1).map((one) => one.connections);
      return [
        {
          least: Math.max(1, Math.min(...connections.map(({ least }) => least))),
          most: Math.max(...connections.map(({ most }) => most)),
        },
      ];
    },
    isOver: (index, { begun }) =>
      at(index).flows || at(index).connections.most === 0 || history.seconds(begun, index) > HOUR,
    canBeOver: (index, { begun }) =>
      at(index).canFlow ||
      at(index).connections.least === 0 ||
      history.step(index) > LONGEST_INTERVAL_SECONDS ||
      history.seconds(at(begun).canBeQuietFrom, index) >= HOUR,
    describe: (index) =>
      [7, 6, 5, 4, 3, 2, 1, 0]
        .map((back) => at(index - back))
        .map(
          ({ connections, canFlow: mayFlow }) =>
            `${connections.least}-${connections.most}${mayFlow ? '+' : ''}`,
        )
        .join(' '),
  };
}

const NOTHING: Delivery = {
  connections: { least: 0, most: 0 },
  flows: false,
  canFlow: false,
  quietFrom: 0,
  canBeQuietFrom: 0,
  isWatched: false,
  canBeWatched: false,
};

function followDelivery(history: History, inputs: Inputs, server: string): readonly Delivery[] {
  let last = NOTHING;
  let tasks = new Map<string, TaskRecord>();
  const largest = new Map<string, number>();
  const waiting = new Set<string>();
  return inputs.map((all, index) => {
    const own = all.filter(({ task }) => task.vsId === server);
    const growths = own.map(({ task }) => bytesOf(task) - bytesOf(tasks.get(task.id)));
    for (const { task } of own) {
      const bytes = bytesOf(task);
      if (bytes < (largest.get(task.id) ?? 0)) waiting.add(task.id);
      if (bytes > bytesOf(tasks.get(task.id))) waiting.delete(task.id);
      largest.set(task.id, Math.max(largest.get(task.id) ?? 0, bytes));
    }
    const connections = {
      least: sumConnections(own.filter(flows)),
      most: sumConnections(own.filter(canFlow)),
    };
    const hasFlown = own.some(({ task }, at) => tasks.has(task.id) && (growths[at] ?? 0) > 0);
    const mayFlow = growths.some((growth) => growth !== 0) || own.some(({ task }) => waiting.has(task.id));
    const wasWatched = last.isWatched && connections.least > 0;
    const couldBeWatched = last.canBeWatched && connections.most > 0;
    const isFar = history.step(index) > LONGEST_INTERVAL_SECONDS;
    last = {
      connections,
      flows: hasFlown,
      canFlow: mayFlow,
      quietFrom: mayFlow || isFar || !wasWatched ? index : last.quietFrom,
      canBeQuietFrom: hasFlown || !couldBeWatched ? index : last.canBeQuietFrom,
      isWatched: wasWatched || connections.least >= LEAST_CONNECTIONS,
      canBeWatched: couldBeWatched || connections.most >= LEAST_CONNECTIONS,
    };
    tasks = new Map(all.map(({ task }) => [task.id, task]));
    return last;
  });
}

function bytesOf(task: TaskRecord | undefined): number {
  return task?.outputs[0]?.httpOutputBytes ?? 0;
}

function sumConnections(inputs: readonly TaskInput[]): number {
  return inputs.reduce((sum, { task }) => sum + (task.outputs[0]?.httpConnectionsNum ?? 0), 0);
}
