import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import { startProgram, type Program } from '../support/program.ts';
import { INTERVAL_MS, SECRET, SOAK_CODES, HEALTHY_CODE, type SoakCode } from './settings.ts';

const lineSchema = z.looseObject({
  level: z.string(),
  msg: z.string(),
  service_code: z.enum(SOAK_CODES).optional(),
  reason: z.string().optional(),
});

/** What the exporter says in its log of a poll that has ended. */
export interface PollEvent {
  readonly serviceCode: SoakCode;
  /** Why it failed; undefined if it succeeded. */
  readonly reason: string | undefined;
}

/** The program itself, as a process of its own, with all that it writes. */
export class ExporterProcess implements AsyncDisposable {
  readonly url: string;
  readonly #program: Program;
  readonly #folder: string;
  #readOffset = 0;
  #noticeCount = 0;

  private constructor(program: Program, url: string, folder: string) {
    this.#program = program;
    this.url = url;
    this.#folder = folder;
  }

  static async start(urlOf: (code: SoakCode) => string): Promise<ExporterProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'xvs-soak-'));
    const file = join(folder, 'config.yml');
    await writeFile(file, stringify(createConfiguration(urlOf)));
    // A small nursery: what survives in the heap is seen sooner.
    const program = startProgram([`--config.file=${file}`], { NODE_OPTIONS: '--max-semi-space-size=1' });
    const port = await program.waitForPort();
    return new ExporterProcess(program, `http://127.0.0.1:${port}`, folder);
  }

  /** All that it has written. */
  get output(): readonly string[] {
    return [this.#program.stdout, this.#program.stderr];
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
    const { level, msg, service_code: serviceCode, reason } = lineSchema.parse(JSON.parse(text));
    if (level !== 'debug') this.#noticeCount += 1;
    if (serviceCode === undefined || !/^Poll (?:succeeded|failed)$/.test(msg)) return [];
    return [{ serviceCode, reason: msg === 'Poll failed' ? (reason ?? 'unknown') : undefined }];
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

function createConfiguration(urlOf: (code: SoakCode) => string): object {
  return {
    upstream: { max_response_size: '1MiB', timeout: `${INTERVAL_MS - 300}ms` },
    poll: { interval: `${INTERVAL_MS}ms` },
    metrics: { per_task: true, max_label_sets: 200 },
    web: { listen_address: '127.0.0.1:0' },
    log: { level: 'debug' },
    secret: SECRET,
    service_codes: SOAK_CODES.map((code) => ({
      service_code: code,
      base_url: urlOf(code),
      ...(code === HEALTHY_CODE && { timeout: '10s' }),
    })),
  };
}
