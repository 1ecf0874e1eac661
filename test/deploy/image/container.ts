import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Program } from '../../support/program.ts';
import type { Buildah } from './buildah.ts';

/** What a process of a container is given, beside what the image says. */
export interface ContainerRun {
  readonly env?: Readonly<Record<string, string>>;
  /** `host path:path in the container:options` */
  readonly volume?: string;
}

/** A command in a container, as the user and in the folder that the image names. It shares the network of the machine. */
export class ContainerProcess implements AsyncDisposable {
  readonly program: Program;

  constructor(
    buildah: Buildah,
    container: string,
    argv: readonly string[],
    { env = {}, volume }: ContainerRun = {},
  ) {
    const variables = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
    const volumes = volume === undefined ? [] : ['--volume', volume];
    const args = buildah.command('run', ...variables, ...volumes, container, '--', ...argv);
    this.program = new Program('buildah', args, buildah.environment);
  }

  /** The process itself, below those of buildah. */
  async node(): Promise<number> {
    const deadline = performance.now() + 10_000;
    for (;;) {
      const found = descendants(this.program.pid ?? 0).find((pid) => executable(pid)?.endsWith('/bin/node'));
      if (found !== undefined) return found;
      if (performance.now() > deadline) throw new Error('Expected a process of Node.js, found none');
      await delay(50);
    }
  }

  /** Ends the process with a signal, and gives the exit code that buildah hands on. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    process.kill(await this.node(), signal);
    return await this.program.exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const running = descendants(this.program.pid ?? 0).filter((pid) =>
      executable(pid)?.endsWith('/bin/node'),
    );
    for (const pid of running) process.kill(pid, 'SIGKILL');
    await this.program[Symbol.asyncDispose]();
  }
}

function descendants(pid: number): readonly number[] {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) return [];
  const children = readdirSync(tasks).flatMap((task) => readChildren(`${tasks}/${task}/children`));
  return [...children, ...children.flatMap((child) => descendants(child))];
}

/** A process or thread may end while it is looked at. */
function readChildren(path: string): readonly number[] {
  if (!existsSync(path)) return [];
  return (readFileSync(path, 'utf8').match(/\d+/g) ?? []).map(Number);
}

function executable(pid: number): string | undefined {
  return existsSync(`/proc/${pid}/exe`) ? readlinkSync(`/proc/${pid}/exe`) : undefined;
}
