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
    const args = buildah.createArgs('run', ...variables, ...volumes, container, '--', ...argv);
    this.program = new Program('buildah', args, buildah.environment);
  }

  /** The process itself, below those of buildah. */
  async findNodePid(): Promise<number> {
    const deadline = performance.now() + 10_000;
    for (;;) {
      const found = listDescendants(this.program.pid ?? 0).find((pid) =>
        readExecutable(pid)?.endsWith('/bin/node'),
      );
      if (found !== undefined) return found;
      if (performance.now() > deadline) throw new Error('Expected a process of Node.js, found none');
      await delay(50);
    }
  }

  /** Ends the process with a signal, and gives the exit code that buildah hands on. */
  async stop(signal: NodeJS.Signals): Promise<number | null> {
    process.kill(await this.findNodePid(), signal);
    return await this.program.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const running = listDescendants(this.program.pid ?? 0).filter((pid) =>
      readExecutable(pid)?.endsWith('/bin/node'),
    );
    for (const pid of running) process.kill(pid, 'SIGKILL');
    await this.program[Symbol.asyncDispose]();
  }
}

function listDescendants(pid: number): readonly number[] {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) return [];
  const children = readdirSync(tasks).flatMap((task) => readChildren(`${tasks}/${task}/children`));
  return [...children, ...children.flatMap((child) => listDescendants(child))];
}

/** A process or thread may end while it is looked at. */
function readChildren(path: string): readonly number[] {
  if (!existsSync(path)) return [];
  return (readFileSync(path, 'utf8').match(/\d+/g) ?? []).map(Number);
}

function readExecutable(pid: number): string | undefined {
  return existsSync(`/proc/${pid}/exe`) ? readlinkSync(`/proc/${pid}/exe`) : undefined;
}
