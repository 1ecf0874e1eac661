import { parseExposition } from '../../support/exposition-parser.ts';
import type { Program } from '../../support/program.ts';

/** A running exporter, accessed by HTTP and its log. */
export class RunningExporter {
  readonly #program: Program;
  readonly #base: string;
  /** Log lines up to the last one that was waited for. */
  #log = '';

  private constructor(program: Program, port: number) {
    this.#program = program;
    this.#base = `http://127.0.0.1:${port}`;
  }

  static async attach(program: Program): Promise<RunningExporter> {
    return new RunningExporter(program, await program.waitForPort());
  }

  /** Waits for a log line after the last one that was waited for. */
  async waitForLog(pattern: RegExp): Promise<string> {
    const line = await this.#program.waitForOutput(pattern);
    this.#log += this.#program.stderr;
    this.#program.stderr = '';
    return line;
  }

  /** The complete output of the program. */
  get output(): string {
    return this.#program.stdout + this.#log + this.#program.stderr;
  }

  async fetchStatus(path: string): Promise<number> {
    const response = await fetch(this.#base + path);
    await response.arrayBuffer();
    return response.status;
  }

  async fetchText(path: string): Promise<string> {
    return await (await fetch(this.#base + path)).text();
  }

  async fetchMetrics(): Promise<string> {
    return await this.fetchText('/metrics');
  }

  /** The sum of the series of a family, for one service code if given; `undefined` without series. */
  async sumFamily(family: string, serviceCode?: string): Promise<number | undefined> {
    const { families } = parseExposition(await this.fetchMetrics(), 'text');
    const samples = families.get(family)?.samples ?? [];
    const own = samples.filter(({ labels }) => labels['service_code'] === serviceCode);
    return own.length === 0 ? undefined : own.reduce((sum, { value }) => sum + value, 0);
  }
}
