import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import { startProgram, type Program } from '../support/program.ts';
import {
  INTERVAL_MS,
  SECRET,
  STATE_INTERVAL_MS,
  SOAK_CODES,
  HEALTHY_CODE,
  type SoakCode,
} from './settings.ts';

const lineSchema = z.looseObject({
  level: z.string(),
  msg: z.string(),
  service_code: z.enum(SOAK_CODES).optional(),
  reason: z.string().optional(),
  time: z.iso.datetime(),
});

/** What the exporter says in its log of a poll that has ended. */
export interface PollEvent {
  readonly serviceCode: SoakCode;
  /** Why it failed; undefined if it succeeded. */
  readonly reason: string | undefined;
  /** In wall-clock milliseconds. */
  readonly atMs: number;
}

/** The program itself, as a process of its own, with all that it writes. */
export class ExporterProcess implements AsyncDisposable {
  readonly #folder: string;
  readonly #port: number;
  #program: Program;
  /** What killed processes have written. */
  readonly #earlierOutput: string[] = [];
  #readOffset = 0;
  #noticeCount = 0;

  private constructor(program: Program, port: number, folder: string) {
    this.#program = program;
    this.#port = port;
    this.#folder = folder;
  }

  static async start(urlOf: (code: SoakCode) => string): Promise<ExporterProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'xvs-soak-'));
    const file = join(folder, 'config.yml');
    await writeFile(file, stringify(createConfiguration(urlOf, join(folder, 'state'))));
    const program = startIn(folder, 0);
    return new ExporterProcess(program, await program.waitForPort(), folder);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Kills the process. */
  async kill(): Promise<void> {
    this.#program.signal('SIGKILL');
    await this.#program.exitCode;
  }

  /** Starts another process with the state file of the killed one, whose polls must have been read. */
  async restart(): Promise<void> {
    this.#earlierOutput.push(this.#program.stdout, this.#program.stderr);
    this.#readOffset = 0;
    this.#program = startIn(this.#folder, this.#port);
    await this.#program.waitForPort();
  }

  /** All that it has written. */
  get output(): readonly string[] {
    return [...this.#earlierOutput, this.#program.stdout, this.#program.stderr];
  }

  /** Lines of the log above `debug`. */
  get noticeCount(): number {
    return this.#noticeCount;
  }

  /** The polls that it has told of since the last call. */
  readNewPolls(): readonly PollEvent[] {
    const { stderr } = this.#program;
    const end = stderr.lastIndexOf('\n') + 1;
    const text = stderr.slice(this.#readOffset, end);
    this.#readOffset = Math.max(this.#readOffset, end);
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.flatMap((line) => this.#parsePoll(line));
  }

  #parsePoll(text: string): readonly PollEvent[] {
    const { level, msg, service_code: serviceCode, reason, time } = lineSchema.parse(JSON.parse(text));
    if (level !== 'debug') this.#noticeCount += 1;
    if (serviceCode === undefined || !/^Poll (?:succeeded|failed)$/.test(msg)) return [];
    const failure = msg === 'Poll failed' ? (reason ?? 'unknown') : undefined;
    return [{ serviceCode, reason: failure, atMs: Date.parse(time) }];
  }

  /** Ends it, as its supervisor would; returns its exit code. */
  async stop(): Promise<number | null> {
    this.#program.signal('SIGTERM');
    return await this.#program.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function startIn(folder: string, port: number): Program {
  // A small nursery: what survives in the heap is seen sooner.
  const env = { NODE_OPTIONS: '--max-semi-space-size=1' };
  const address = `--web.listen-address=127.0.0.1:${port}`;
  return startProgram([`--config.file=${join(folder, 'config.yml')}`, address], env);
}

function createConfiguration(urlOf: (code: SoakCode) => string, stateFile: string): object {
  return {
    upstream: { max_response_size: '1MiB', timeout: `${INTERVAL_MS - 300}ms` },
    poll: { interval: `${INTERVAL_MS}ms` },
    metrics: { per_task: true, max_label_sets: 200 },
    state: { file: stateFile, interval: `${STATE_INTERVAL_MS}ms` },
    log: { level: 'debug' },
    secret: SECRET,
    service_codes: SOAK_CODES.map((code) => ({
      service_code: code,
      base_url: urlOf(code),
      ...(code === HEALTHY_CODE && { timeout: '10s' }),
    })),
  };
}
