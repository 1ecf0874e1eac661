import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { z, type ZodType } from 'zod';

/** The response of a command without a result. */
export const EMPTY_RESPONSE = z.object({});

/** The address of a server. */
export const ADDRESS_RESPONSE = z.object({ url: z.string() });

/**
 * Since `begin`: CPU time as a share of a core and what was written to the disk. Peak memory since the start.
 */
export const USAGE_RESPONSE = z.object({
  cpuShare: z.number(),
  peakRssMb: z.number(),
  writtenBytesPerMs: z.number(),
});

/** CPU time that a process used so far. */
export const CPU_RESPONSE = z.object({ cpuMs: z.number() });

export interface ChildOptions {
  readonly args?: readonly string[];
  /** Options of Node.js. */
  readonly execArgv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A child process that runs a program of `children/`. Disposal ends it. */
export class Child implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #exit: Promise<unknown>;

  private constructor(name: string, { args = [], execArgv = [], env = {} }: ChildOptions) {
    const path = fileURLToPath(new URL(`children/${name}.js`, import.meta.url));
    // The environment of this process must not change the settings of the exporter.
    const settings = { execArgv: [...execArgv], env: { PATH: process.env['PATH'], ...env } };
    this.#process = fork(path, [...args], settings);
    this.#exit = once(this.#process, 'exit');
  }

  /** Starts a program and waits until it accepts commands. */
  static async start(name: string, options: ChildOptions = {}): Promise<Child> {
    const child = new Child(name, options);
    await child.#nextMessage();
    return child;
  }

  /** Sends a command and returns the response. Only one command can be under way. */
  async sendCommand<T>(command: string, schema: ZodType<T>): Promise<T> {
    this.#process.send(command);
    return schema.parse(await this.#nextMessage());
  }

  async #nextMessage(): Promise<unknown> {
    const ended = this.#exit.then(() => {
      throw new Error('Expected an answer of a child process, found that it ended');
    });
    const [message]: unknown[] = await Promise.race([once(this.#process, 'message'), ended]);
    return message;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) this.#process.kill();
    await this.#exit;
  }
}
