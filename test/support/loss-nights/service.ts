import type { TaskRecord } from '../listing-records.ts';
import { Timeline } from '../night/timeline.ts';
import { buildOutputRecord, buildTaskRecord } from '../record-builders.ts';
import type { Answer } from '../tally-process.ts';

/** The truth changes in steps of so many seconds, and polls fall on them. */
export const STEP_SECONDS = 5;
/** Bytes per second. */
const INPUT_RATE = 500_000;
const OUTPUT_RATE = 250_000;

/** The name of the expected stream. */
export const EXPECTED_NAME = 'main';

/** A stream, which the service lists as one task after another. */
export interface Stream {
  readonly name: string | undefined;
  readonly server: Timeline<string>;
  /** A run begins whenever it becomes true. */
  readonly runs: Timeline<boolean>;
  /** Whether listings leave it out while it runs. */
  readonly isHidden: Timeline<boolean>;
  readonly hasInput: Timeline<boolean>;
  readonly viewers: Timeline<number>;
  /** A run ends and another begins after so many seconds; 0: never. */
  readonly restartSeconds: Timeline<number>;
  /** When its byte counts begin again while it runs. */
  readonly resets: number[];
  /** Whether its runs have the same id. */
  readonly reusesId: Timeline<boolean>;
  readonly isFile: boolean;
}

export interface Service {
  readonly streams: Stream[];
  readonly users: Timeline<number>;
  /** Whether servers deliver bytes. */
  readonly delivers: ReadonlyMap<string, Timeline<boolean>>;
  readonly answers: Timeline<boolean>;
  /** The answer is that of so many polls ago. */
  readonly answerAge: Timeline<number>;
}

export function createStream(server: string, fields: Partial<Stream> = {}): Stream {
  return {
    name: undefined,
    server: new Timeline(server),
    runs: new Timeline(true),
    isHidden: new Timeline(false),
    hasInput: new Timeline(true),
    viewers: new Timeline(0),
    restartSeconds: new Timeline(0),
    resets: [],
    reusesId: new Timeline(false),
    isFile: false,
    ...fields,
  };
}

interface Run {
  id: string;
  startedAt: number;
  inputBytes: number;
  outputBytes: number;
}

/** The service as it runs: what flows in the steps of a night, and what it answers. */
export class RunningService {
  readonly #service: Service;
  readonly #runs = new Map<Stream, Run>();
  readonly #answers: Answer[] = [];
  #runCount = 0;
  #second = 0;

  constructor(service: Service) {
    this.#service = service;
    // Streams have run for an hour when the night begins.
    for (const stream of service.streams)
      if (stream.runs.at(0)) {
        const run = this.#begin(stream, -3600);
        if (stream.hasInput.at(-3600)) Object.assign(run, { inputBytes: 1.8e9, outputBytes: 1e9 });
      }
  }

  answer(second: number): Answer {
    for (; this.#second < second; this.#second += STEP_SECONDS)
      for (const stream of this.#service.streams) this.#flow(stream, this.#second);
    this.#answers.push({ users: this.#service.users.at(second), tasks: this.#list(second) });
    const fresh = this.#answers.length - 1;
    const answer = this.#answers[Math.max(0, fresh - this.#service.answerAge.at(second))];
    return answer ?? { users: 0, tasks: [] };
  }

  #begin(stream: Stream, second: number): Run {
    const before = this.#runs.get(stream);
    const keepsId = before !== undefined && stream.reusesId.at(second);
    if (!keepsId) this.#runCount += 1;
    const id = keepsId ? before.id : `task-${this.#runCount}`;
    const run = { id, startedAt: second, inputBytes: 0, outputBytes: 0 };
    this.#runs.set(stream, run);
    return run;
  }

  #flow(stream: Stream, second: number): void {
    if (!stream.runs.at(second)) return;
    const last = this.#runs.get(stream);
    const restartSeconds = stream.restartSeconds.at(second);
    const wasRunning = last !== undefined && stream.runs.at(second - STEP_SECONDS);
    const isDue = last !== undefined && restartSeconds > 0 && second - last.startedAt >= restartSeconds;
    const run = wasRunning && !isDue ? last : this.#begin(stream, second);
    if (stream.resets.includes(second)) Object.assign(run, { inputBytes: 0, outputBytes: 0 });
    if (!stream.hasInput.at(second)) return;
    run.inputBytes += INPUT_RATE * STEP_SECONDS;
    if (this.#service.delivers.get(stream.server.at(second))?.at(second) === true)
      run.outputBytes += stream.viewers.at(second) * OUTPUT_RATE * STEP_SECONDS;
  }

  #list(second: number): readonly TaskRecord[] {
    return this.#service.streams.flatMap((stream) => {
      const run = this.#runs.get(stream);
      // A run that begins now is listed from the next step on.
      if (run === undefined || !stream.runs.at(second - STEP_SECONDS)) return [];
      if (!stream.runs.at(second) || stream.isHidden.at(second)) return [];
      const output = buildOutputRecord({
        format: 'flv',
        httpOutputBytes: run.outputBytes,
        httpConnectionsNum: stream.viewers.at(second),
      });
      return [
        buildTaskRecord({
          id: run.id,
          name: stream.name,
          vsId: stream.server.at(second),
          progress: stream.isFile ? 1 + (second - run.startedAt) / 100 : 0,
          inputBytes: run.inputBytes,
          outputs: [output],
        }),
      ];
    });
  }
}
