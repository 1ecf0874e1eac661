import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import { startProgram, type Program } from '../../support/program.ts';
import { INTERVAL_MS, SECRET, SOAK_CODES, HEALTHY_CODE, type SoakCode } from './settings.ts';

const lineSchema = z.looseObject({
  level: z.string(),
  msg: z.string(),
  service_code: z.enum(SOAK_CODES).optional(),
  reason: z.string().optional(),
  time: z.iso.datetime(),
});

/** A completed poll, parsed from the log of the exporter. */
export interface PollEvent {
  readonly serviceCode: SoakCode;
  /** The reason of the failure; `undefined` if the poll succeeded. */
  readonly reason: string | undefined;
  /** Wall-clock time of the log line in milliseconds. */
  readonly atMs: number;
}

/** The exporter in a separate process, with its state and its output. */
export class ExporterProcess implements AsyncDisposable {
  readonly #folder: string;
  readonly #port: number;
  #program: Program;
  /** Output of the killed processes. */
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

  async kill(): Promise<void> {
    this.#program.signal('SIGKILL');
    await this.#program.exitCode;
  }

  /** Starts a new process with the state of the killed one. Call `readNewPolls` before: it reads the last process only. */
  async restart(): Promise<void> {
    this.#earlierOutput.push(this.#program.stdout, this.#program.stderr);
    this.#readOffset = 0;
    this.#program = startIn(this.#folder, this.#port);
    await this.#program.waitForPort();
  }

  /** Standard output and standard error of all processes. */
  get output(): readonly string[] {
    return [...this.#earlierOutput, this.#program.stdout, this.#program.stderr];
  }

  /** Number of log lines above level `debug`. */
  get noticeCount(): number {
    return this.#noticeCount;
  }

  /** Returns the polls logged since the last call. */
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

  /** Sends SIGTERM and returns the exit code. */
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
  // A small young generation makes collections frequent, so a leak shows earlier.
  const env = { NODE_OPTIONS: '--max-semi-space-size=1' };
  const address = `--web.listen-address=127.0.0.1:${port}`;
  return startProgram([`--config.file=${join(folder, 'config.yml')}`, address], env);
}

function createConfiguration(urlOf: (code: SoakCode) => string, statePath: string): object {
  return {
    upstream: { max_response_size: '1MiB', timeout: `${INTERVAL_MS - 300}ms` },
    poll: { interval: `${INTERVAL_MS}ms` },
    metrics: { per_task: true, max_label_sets: 200 },
    state: { path: statePath },
    log: { level: 'debug' },
    secret: SECRET,
    service_codes: SOAK_CODES.map((code) => ({
      service_code: code,
      base_url: urlOf(code),
      ...(code === HEALTHY_CODE && { timeout: '10s' }),
    })),
  };
}
