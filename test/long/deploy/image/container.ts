import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { Program } from '../../../support/program.ts';
import { waitUntil } from '../../../support/wait-until.ts';
import type { Buildah } from './buildah.ts';

/** Settings of a container process in addition to those of the image. */
export interface ContainerRun {
  readonly env?: Readonly<Record<string, string>>;
  /** `host path:path in the container:options` */
  readonly volume?: string;
}

/** A command in a container, with the user and working directory of the image and the network of the host. */
export class ContainerProcess implements AsyncDisposable {
  readonly program: Program;

  constructor(
    buildah: Buildah,
    container: string,
    argv: readonly string[],
    { env = {}, volume }: ContainerRun = {},
  ) {
    // As all programs of tests, whose log lines are searched.
    const variables = Object.entries({ XVS_LOG_FORMAT: 'json', ...env }).flatMap(([name, value]) => [
      '--env',
      `${name}=${value}`,
    ]);
    const volumes = volume === undefined ? [] : ['--volume', volume];
    const args = buildah.createArgs('run', ...variables, ...volumes, container, '--', ...argv);
    this.program = new Program('buildah', args, buildah.environment);
  }

  /** Waits for the Node.js process, a descendant of the Buildah process, and returns its pid. */
  async findNodePid(): Promise<number> {
    const [pid = 0] = await waitUntil(
      () => this.#listNodePids(),
      (pids) => pids.length > 0,
    );
    return pid;
  }

  /** Sends a signal to the Node.js process and returns its exit code. */
  async stop(signal: NodeJS.Signals): Promise<number | null> {
    process.kill(await this.findNodePid(), signal);
    return await this.program.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of this.#listNodePids()) process.kill(pid, 'SIGKILL');
    await this.program[Symbol.asyncDispose]();
  }

  #listNodePids(): readonly number[] {
    return listDescendants(this.program.pid ?? 0).filter((pid) => readExecutable(pid)?.endsWith('/bin/node'));
  }
}

function listDescendants(pid: number): readonly number[] {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) return [];
  const children = readdirSync(tasks).flatMap((task) => readChildren(`${tasks}/${task}/children`));
  return [...children, ...children.flatMap((child) => listDescendants(child))];
}

/** Returns no children if the thread has ended meanwhile. */
function readChildren(path: string): readonly number[] {
  if (!existsSync(path)) return [];
  return (readFileSync(path, 'utf8').match(/\d+/g) ?? []).map(Number);
}

function readExecutable(pid: number): string | undefined {
  return existsSync(`/proc/${pid}/exe`) ? readlinkSync(`/proc/${pid}/exe`) : undefined;
}
