import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** The built program, as `npm run build` leaves it. */
export const PROGRAM = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

/** A process of the test's own, with all that it wrote. Disposing of it ends it and waits for its end. */
export class Program implements AsyncDisposable {
  stdout = '';
  stderr = '';
  readonly #child: ChildProcess;
  readonly #exit: Promise<number | null>;
  #notify: (() => void) | undefined;

  constructor(
    command: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    cwd: string = ROOT,
  ) {
    this.#child = spawn(command, args, {
      cwd,
      // Nothing of the machine's own settings gets in.
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      this.#notify?.();
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
      this.#notify?.();
    });
    this.#exit = once(this.#child, 'close').then(([code]: unknown[]) =>
      typeof code === 'number' ? code : null,
    );
    // Whoever waits learns of it; nobody else has to.
    this.#exit.catch(() => undefined);
  }

  /** Resolves with the exit code; rejects where the program could not be run. */
  get exit(): Promise<number | null> {
    return this.#exit;
  }

  /** Its number, as long as it could be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** The first match in what the program has written by now or goes on to write. */
  async printed(pattern: RegExp): Promise<string> {
    for (let hasEnded = false; ;) {
      const match = pattern.exec(this.stdout + this.stderr);
      if (match !== null) return match[1] ?? match[0];
      if (hasEnded) throw new Error(`Expected ${String(pattern)}, found only:\n${this.stdout}${this.stderr}`);
      const more = new Promise<boolean>((resolve) => {
        this.#notify = () => resolve(false);
      });
      hasEnded = await Promise.race([more, this.#exit.then(() => true)]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGTERM');
    await this.#exit.catch(() => undefined);
  }
}

/** Runs it. */
export function xvsExporter(args: readonly string[], env: Readonly<Record<string, string>> = {}): Program {
  return new Program(process.execPath, [PROGRAM, ...args], env);
}
