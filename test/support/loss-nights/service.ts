import { recordOf } from '../../../src/families/record-of.ts';
import { LISTED_GROUPS, RECORD_GROUPS } from '../../../src/listing/label-groups.ts';
import { OWN_INPUT, type Listing, type ListingRows, type TaskReading } from '../../../src/listing/listing.ts';
import { TextRows } from '../../../src/listing/rows.ts';
import { computeEgress, countConnections, type NightCode, type NightTask } from '../night/truth.ts';
import type { Timeline } from '../night/timeline.ts';

/** A task that may restart every so many seconds, with a new id. */
export interface ServiceTask extends NightTask {
  readonly restartSeconds?: Timeline<number>;
}

export interface ServiceCode extends NightCode {
  readonly tasks: readonly ServiceTask[];
}

/** Bytes flow in steps of so many seconds. */
const FLOW_SECONDS = 5;

interface Run {
  number: number;
  startedAt: number | undefined;
  inputBytes: number;
  outputBytes: number;
}

/** The service as the truth of a night has it: what flows, and the listings that it answers with. */
export class Service {
  readonly #code: ServiceCode;
  readonly #runs: Map<ServiceTask, Run>;
  #second: number;

  constructor(code: ServiceCode, startSecond: number) {
    this.#code = code;
    this.#second = startSecond;
    // Tasks have run for an hour when the night begins.
    this.#runs = new Map(
      code.tasks.map((task) => [task, { number: 0, startedAt: -3600, inputBytes: 2e9, outputBytes: 1e9 }]),
    );
  }

  list(second: number): Listing {
    for (; this.#second < second; this.#second += FLOW_SECONDS) this.#flow(this.#second);
    const rows = recordOf(
      [...RECORD_GROUPS, ...LISTED_GROUPS],
      (group) => new TextRows(group),
    ) as unknown as ListingRows & {
      readonly [G in 'outputs' | 'taskServers' | 'userServers' | 'renditions']: TextRows<G>;
    };
    const tasks = new Map<string, TaskReading>();
    const connections = this.#countConnections(second);
    for (const [index, task] of this.#code.tasks.entries()) {
      if (!task.isListed.at(second)) continue;
      const { number, inputBytes, outputBytes } = this.#runs.get(task) ?? {
        number: 0,
        inputBytes: 0,
        outputBytes: 0,
      };
      const { server: vsId, name } = task;
      const id = `${index}-${number}`;
      const outputRow = rows.outputs.find(vsId, 'flv');
      const own = connections.get(task) ?? 0;
      const outputCount = task.outputs.at(second);
      for (const [family, amount] of [
        ['outputs', outputCount],
        ['httpConnections', own],
        ['outputsUnwatched', own === 0 ? outputCount : 0],
        ['httpOutputBytes', 0],
      ] as const)
        rows.outputs.add(outputRow, family, amount);
      const renditionRow = rows.renditions.find('libx264', 'aac', '640x360');
      rows.renditions.add(renditionRow, 'outputRenditions', outputCount);
      rows.renditions.add(renditionRow, 'renditionHttpConnections', own);
      rows.taskServers.count('tasks', 1, vsId);
      rows.taskServers.count('tasksWithProgress', 0, vsId);
      rows.userServers.count('serverOnlineUsers', 0, vsId);
      tasks.set(id, {
        id,
        vsId,
        name,
        progress: 0,
        inputCount: 1,
        inputs: [{ identity: OWN_INPUT, bytes: Math.round(inputBytes) }],
        protocol: 'rtmp',
        outputs: Array.from({ length: outputCount }, (_, output) => ({
          identity: output,
          bytes: output === 0 ? Math.round(outputBytes) : 0,
          connections: output === 0 ? own : 0,
          outputRow,
          renditionRow,
        })),
        connections: own,
      });
    }
    return {
      users: this.#code.users.at(second),
      taskCount: tasks.size,
      tasks,
      rows,
      firstRejected: [],
      ofPolledCode: tasks.size,
    };
  }

  /** The viewers of a server watch its first task. */
  #countConnections(second: number): ReadonlyMap<ServiceTask, number> {
    const { tasks, servers } = this.#code;
    const found = new Map<ServiceTask, number>();
    for (const server of servers) {
      const first = tasks.find((task) => task.server === server && task.isListed.at(second));
      if (first !== undefined) found.set(first, countConnections(this.#code, server, second));
    }
    return found;
  }

  #flow(second: number): void {
    const { tasks, servers } = this.#code;
    for (const task of tasks) {
      const run = this.#runs.get(task);
      if (run === undefined) continue;
      const restarts = task.restartSeconds?.at(second) ?? 0;
      const isEnding = restarts > 0 && second - (run.startedAt ?? second) >= restarts;
      if (!task.isListed.at(second) || isEnding)
        Object.assign(run, { startedAt: undefined, inputBytes: 0, outputBytes: 0 });
      if (!task.isListed.at(second)) continue;
      if (run.startedAt === undefined) Object.assign(run, { startedAt: second, number: run.number + 1 });
      run.inputBytes += task.inputRate.at(second) * FLOW_SECONDS;
    }
    for (const server of servers) {
      const first = tasks.find((task) => task.server === server && task.isListed.at(second));
      const run = first && this.#runs.get(first);
      if (run) run.outputBytes += computeEgress(this.#code, server, second) * FLOW_SECONDS;
    }
  }
}
