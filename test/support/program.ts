import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

/** A process of the test's own, with all that it wrote. Disposing of it ends it and waits for its end. */
export class Program implements AsyncDisposable {
  stdout = '';
  stderr = '';
  readonly #child: ChildProcess;
  readonly #exit: Promise<number | null>;

  constructor(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#child = spawn(command, args, {
      cwd: ROOT,
      // Nothing of the machine's own settings gets in.
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
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

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** The first match in what the program has written by now or goes on to write. */
  async printed(pattern: RegExp): Promise<string> {
    for (;;) {
      const match = pattern.exec(this.stdout + this.stderr);
      if (match !== null) return match[1] ?? match[0];
      const hasEnded = await Promise.race([
        this.#exit.then(() => true),
        Promise.race([
          once(this.#child.stdout ?? this.#child, 'data'),
          once(this.#child.stderr ?? this.#child, 'data'),
        ]).then(() => false),
      ]);
      if (hasEnded && pattern.exec(this.stdout + this.stderr) === null) {
        throw new Error(
          `Expected ${String(pattern)}, found the end of the program:\n${this.stdout}${this.stderr}`,
        );
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGTERM');
    await this.#exit.catch(() => undefined);
  }
}

/** The built program itself, as `npm run build` leaves it. */
export function xvsExporter(args: readonly string[], env: Readonly<Record<string, string>> = {}): Program {
  return new Program(process.execPath, [PROGRAM, ...args], env);
}
