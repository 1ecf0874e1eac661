import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ZodType } from 'zod';

export interface ChildOptions {
  readonly args?: readonly string[];
  /** Options of Node.js. */
  readonly execArgv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A process that measures itself, from `children/`. Disposing of it ends it. */
export class Child implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #exit: Promise<unknown>;

  private constructor(name: string, { args = [], execArgv = [], env = {} }: ChildOptions) {
    const path = fileURLToPath(new URL(`children/${name}.js`, import.meta.url));
    // Nothing of the machine's own settings gets in.
    const settings = { execArgv: [...execArgv], env: { PATH: process.env['PATH'], ...env } };
    this.#process = fork(path, [...args], settings);
    this.#exit = once(this.#process, 'exit');
  }

  /** Starts one and waits until it is ready for commands. */
  static async start(name: string, options: ChildOptions = {}): Promise<Child> {
    const child = new Child(name, options);
    await child.#nextMessage();
    return child;
  }

  /** Has it run a command, and returns the figures that it answers. One command at a time. */
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
