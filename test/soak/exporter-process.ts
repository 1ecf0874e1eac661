import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import { xvsExporter, type Program } from '../support/program.ts';
import { INTERVAL_MS, SECRET, SOAK_CODES, SOUND_CODE, type SoakCode } from './settings.ts';

const lineSchema = z.looseObject({
  level: z.string(),
  msg: z.string(),
  service_code: z.enum(SOAK_CODES).optional(),
  reason: z.string().optional(),
});

/** What the exporter says in its log of a poll that has ended. */
export interface PollLine {
  readonly serviceCode: SoakCode;
  /** Why it failed; undefined if it succeeded. */
  readonly reason: string | undefined;
}

/** The program itself, as a process of its own, with all that it writes. */
export class SoakedExporter implements AsyncDisposable {
  readonly url: string;
  readonly #program: Program;
  readonly #folder: string;
  #read = 0;
  #news = 0;

  private constructor(program: Program, url: string, folder: string) {
    this.#program = program;
    this.url = url;
    this.#folder = folder;
  }

  static async start(urlOf: (code: SoakCode) => string): Promise<SoakedExporter> {
    const folder = await mkdtemp(join(tmpdir(), 'xvs-soak-'));
    const file = join(folder, 'config.yml');
    await writeFile(file, stringify(configuration(urlOf)));
    // A small nursery: what survives in the heap is seen sooner.
    const program = xvsExporter([`--config.file=${file}`], { NODE_OPTIONS: '--max-semi-space-size=1' });
    const port = await program.printed(/"port":(\d+),"msg":"Listening"/);
    return new SoakedExporter(program, `http://127.0.0.1:${port}`, folder);
  }

  /** All that it has written. */
  get written(): readonly string[] {
    return [this.#program.stdout, this.#program.stderr];
  }

  /** Lines of the log above `debug`. */
  get news(): number {
    return this.#news;
  }

  /** The polls that it has told of since the last call. */
  newPolls(): readonly PollLine[] {
    const { stderr } = this.#program;
    const end = stderr.lastIndexOf('\n') + 1;
    const text = stderr.slice(this.#read, end);
    this.#read = Math.max(this.#read, end);
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.flatMap((line) => this.#pollOf(line));
  }

  #pollOf(text: string): readonly PollLine[] {
    const { level, msg, service_code: serviceCode, reason } = lineSchema.parse(JSON.parse(text));
    if (level !== 'debug') this.#news += 1;
    if (serviceCode === undefined || !/^Poll (?:succeeded|failed)$/.test(msg)) return [];
    return [{ serviceCode, reason: msg === 'Poll failed' ? (reason ?? 'unknown') : undefined }];
  }

  /** Ends it, as its supervisor would; returns its exit code. */
  async end(): Promise<number | null> {
    this.#program.signal('SIGTERM');
    return await this.#program.exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function configuration(urlOf: (code: SoakCode) => string): object {
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
      ...(code === SOUND_CODE && { timeout: '10s' }),
    })),
  };
}
