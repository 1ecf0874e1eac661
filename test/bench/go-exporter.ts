import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const SOURCE_FOLDER = fileURLToPath(new URL('../../../test/bench/go-exporter', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../../client-golang-exporter', import.meta.url));
const BUILD_TIMEOUT_MS = 300_000;

/** Builds the exporter that uses client_golang. Returns the reason if that fails, else `undefined`. */
export function buildGoExporter(): string | undefined {
  const { error, status, stderr } = spawnSync('go', ['build', '-o', PROGRAM, '.'], {
    cwd: SOURCE_FOLDER,
    encoding: 'utf8',
    timeout: BUILD_TIMEOUT_MS,
  });
  if (error !== undefined) return `go: ${error.message}`;
  return status === 0 ? undefined : stderr.trim();
}

/** The exporter that uses client_golang. Disposal ends it. */
export class GoExporter implements AsyncDisposable {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(url: string, process: ChildProcess, lines: AsyncIterator<string>) {
    this.url = url;
    this.#process = process;
    this.#lines = lines;
  }

  /** Starts it with the families of an exposition in text format. */
  static async start(expositionPath: string): Promise<GoExporter> {
    const child = spawn(PROGRAM, [expositionPath], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return new GoExporter(await readLine(lines), child, lines);
  }

  async readCpuMs(): Promise<number> {
    this.#process.stdin?.write('\n');
    return Number(await readLine(this.#lines));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.stdin?.end();
    if (this.#process.exitCode === null) await once(this.#process, 'exit');
  }
}

async function readLine(lines: AsyncIterator<string>): Promise<string> {
  const line = await lines.next();
  if (line.done === true) throw new Error('Expected a line of the Go exporter, found that it ended');
  return line.value;
}
