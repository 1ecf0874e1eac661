import { buildOutputRecord, buildTaskRecord } from '../record-builders.ts';
import type { Answer } from '../tally-process.ts';
import { computeEgress, countConnections, type NightCode, type NightTask } from './truth.ts';

/** Bytes flow in steps of so many seconds. */
const FLOW_SECONDS = 5;

interface Run {
  number: number;
  isRunning: boolean;
  inputBytes: number;
  outputBytes: number;
}

/** The service as the truth of a night has it: what flows, and what it answers. */
export class NightService {
  readonly #code: NightCode;
  readonly #runs: ReadonlyMap<NightTask, Run>;
  #second: number;

  constructor(code: NightCode, startSecond: number) {
    this.#code = code;
    this.#second = startSecond;
    this.#runs = new Map(
      code.tasks.map((task) => [task, { number: 0, isRunning: true, inputBytes: 2e9, outputBytes: 1e9 }]),
    );
  }

  answer(second: number): Answer {
    for (; this.#second < second; this.#second += FLOW_SECONDS) this.#flow(this.#second);
    const watched = new Map(
      this.#code.servers.map((server) => [this.#findWatched(server, second), server] as const),
    );
    const tasks = this.#code.tasks.flatMap((task, index) => {
      const run = this.#runs.get(task);
      if (run === undefined || !task.isListed.at(second)) return [];
      const server = watched.get(task);
      const connections = server === undefined ? 0 : countConnections(this.#code, server, second);
      const outputs = Array.from({ length: task.outputs.at(second) }, (_, output) =>
        buildOutputRecord({
          fileName: `output-${output}`,
          httpOutputBytes: output === 0 ? Math.round(run.outputBytes) : 0,
          httpConnectionsNum: output === 0 ? connections : 0,
        }),
      );
      return [
        buildTaskRecord({
          id: `${index}-${run.number}`,
          name: task.name,
          vsId: task.server,
          inputBytes: Math.round(run.inputBytes),
          outputs,
        }),
      ];
    });
    return { users: this.#code.users.at(second), tasks };
  }

  /** The viewers of a server watch its first task. */
  #findWatched(server: string, second: number): NightTask | undefined {
    return this.#code.tasks.find((task) => task.server === server && task.isListed.at(second));
  }

  #flow(second: number): void {
    for (const [task, run] of this.#runs) {
      const isRunning = task.isListed.at(second);
      if (isRunning && !run.isRunning)
        Object.assign(run, { number: run.number + 1, inputBytes: 0, outputBytes: 0 });
      run.isRunning = isRunning;
      if (isRunning) run.inputBytes += task.inputRate.at(second) * FLOW_SECONDS;
    }
    for (const server of this.#code.servers) {
      const watched = this.#findWatched(server, second);
      const run = watched && this.#runs.get(watched);
      if (run) run.outputBytes += computeEgress(this.#code, server, second) * FLOW_SECONDS;
    }
  }
}
