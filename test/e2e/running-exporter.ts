import { parseExposition } from '../support/exposition-parser.ts';
import type { Program } from '../support/program.ts';
import { until } from '../support/until.ts';

/** The exporter as a test sees it from outside. */
export class Exporter {
  readonly #program: Program;
  readonly #base: string;
  /** Lines that were waited for, and those before them. */
  #log = '';

  private constructor(program: Program, port: string) {
    this.#program = program;
    this.#base = `http://127.0.0.1:${port}`;
  }

  static async of(program: Program): Promise<Exporter> {
    return new Exporter(program, await program.printed(/"port":(\d+),"msg":"Listening"/));
  }

  async reload(): Promise<readonly [number, string]> {
    const response = await fetch(`${this.#base}/-/reload`, { method: 'POST' });
    return [response.status, await response.text()];
  }

  /** Waits for a line of the log that was written since the last one that was waited for. */
  async logged(pattern: RegExp): Promise<string> {
    const line = await this.#program.printed(pattern);
    this.#log += this.#program.stderr;
    this.#program.stderr = '';
    return line;
  }

  /** All that the program ever wrote. */
  get written(): string {
    return this.#program.stdout + this.#log + this.#program.stderr;
  }

  async status(path: string): Promise<number> {
    const response = await fetch(this.#base + path);
    await response.arrayBuffer();
    return response.status;
  }

  async text(path: string): Promise<string> {
    return await (await fetch(this.#base + path)).text();
  }

  metrics(): Promise<string> {
    return this.text('/metrics');
  }

  /** The sum over the series of a family, of one service code if there is one. */
  async sum(family: string, serviceCode?: string): Promise<number | undefined> {
    const { families } = parseExposition(await this.metrics(), 'text');
    const samples = families.get(family)?.samples ?? [];
    const own = samples.filter(({ labels }) => labels['service_code'] === serviceCode);
    return own.length === 0 ? undefined : own.reduce((sum, { value }) => sum + value, 0);
  }

  async isUp(serviceCode: string): Promise<void> {
    await until(
      () => this.sum('xvs_up', serviceCode),
      (up) => up === 1,
    );
  }
}
