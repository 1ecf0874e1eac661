import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { WAIT_LIMIT_MS } from './wait-until.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** The path of the program that `npm run build` writes. */
export const PROGRAM_PATH = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

/**
 * The exporter polls an address without a service, and listens on a free port. However slow the machine, no
 * poll times out.
 */
export const SETTINGS = {
  XVS_UPSTREAM_BASE_URL: 'http://127.0.0.1:1',
  XVS_SERVICE_CODES: 'TESTING',
  XVS_UPSTREAM_TIMEOUT: '1h',
  XVS_SECRET: 'abc',
  XVS_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
};

/** A child process and its output. Disposal sends SIGTERM and waits for its exit. */
export class Program implements AsyncDisposable {
  stdout = '';
  stderr = '';
  readonly #child: ChildProcess;
  readonly #exitCode: Promise<number | null>;
  #onOutput: (() => void) | undefined;

  constructor(
    command: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    cwd: string = ROOT,
  ) {
    this.#child = spawn(command, args, {
      cwd,
      // The environment of the machine must not influence the test.
      env: { PATH: process.env['PATH'], XVS_LOG_FORMAT: 'json', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      this.#onOutput?.();
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
      this.#onOutput?.();
    });
    this.#exitCode = once(this.#child, 'close').then(([code]: unknown[]) =>
      typeof code === 'number' ? code : null,
    );
    // Tests that await `exitCode` get the rejection. Without this handler, it would be unhandled in other
    // tests.
    this.#exitCode.catch(() => undefined);
  }

  /** Resolves with the exit code, or `null` after a signal. Rejects if the program could not be started. */
  get exitCode(): Promise<number | null> {
    return this.#exitCode;
  }

  /** The process id; `undefined` if the program could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** CPU time since the start; Linux counts it in hundredths of a second (proc(5), `utime` and `stime`). */
  get cpuMs(): number {
    const [, fields = ''] = readFileSync(`/proc/${this.pid}/stat`, 'utf8').split(') ');
    const [userTicks = 0, systemTicks = 0] = fields.split(' ').slice(11, 13).map(Number);
    return 10 * (userTicks + systemTicks);
  }

  get rssMiB(): number {
    return this.#readMemoryMiB('VmRSS');
  }

  get peakRssMiB(): number {
    return this.#readMemoryMiB('VmHWM');
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Waits for the first match in the output and returns it. Rejects if the program exits. */
  async waitForOutput(pattern: RegExp): Promise<string> {
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      this.#onOutput?.();
    }, WAIT_LIMIT_MS);
    try {
      for (;;) {
        const match = pattern.exec(this.stdout + this.stderr);
        if (match !== null) return match[1] ?? match[0];
        if (isOver) throw new Error(`Expected ${String(pattern)}, found only:\n${this.stdout}${this.stderr}`);
        const more = new Promise<void>((resolve) => {
          this.#onOutput = resolve;
        });
        const ended = this.#exitCode.then(() => {
          isOver = true;
        });
        await Promise.race([more, ended]);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits until the exporter listens, and returns the port. */
  async waitForPort(): Promise<number> {
    return Number(await this.waitForOutput(/"port":(\d+),"msg":"Listening"/));
  }

  /** Waits until the simulator listens, and returns its URL. */
  waitForUrl(): Promise<string> {
    return this.waitForOutput(/ on (http:\S+)/);
  }

  #readMemoryMiB(field: string): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.hasEnded) this.#child.kill('SIGTERM');
    await this.#exitCode.catch(() => undefined);
  }
}

/** Starts the built program. */
export function startProgram(args: readonly string[], env: Readonly<Record<string, string>> = {}): Program {
  return new Program(process.execPath, [PROGRAM_PATH, ...args], env);
}
