import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs a program to its end; gives what it printed, or throws with its complaint. */
export function runTool(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    maxBuffer: 256 * 1024 * 1024,
  });
  if (status === 0) return stdout;
  const why = error?.message ?? `${stdout}${stderr}`;
  throw new Error(`Expected ${command} ${args.join(' ')} to end with 0, found ${status}:\n${why}`);
}

/** Buildah with images, containers and temporary files in a folder of its own, which goes with it. */
export class Buildah implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'xvs-image-'));
  readonly #env: Readonly<Record<string, string>>;

  constructor() {
    const temporary = this.path('tmp');
    mkdirSync(temporary);
    // Without chroot isolation it would want cgroups and mounts that a container of a CI service has not.
    this.#env = { BUILDAH_ISOLATION: 'chroot', TMPDIR: temporary, HOME: this.folder };
  }

  /** A path in the folder. */
  path(...names: readonly string[]): string {
    return join(this.folder, ...names);
  }

  /** The variables that a command needs. */
  get environment(): Readonly<Record<string, string>> {
    return this.#env;
  }

  /** The arguments of a command on the storage of this folder. */
  createArgs(...args: readonly string[]): string[] {
    const storage = ['--root', this.path('storage'), '--runroot', this.path('run')];
    return [...storage, '--storage-driver', 'vfs', ...args];
  }

  /** Runs a command to its end and gives what it printed. */
  run(...args: readonly string[]): string {
    return runTool('buildah', this.createArgs(...args), this.#env).trim();
  }

  /** Builds a Dockerfile, from images that are here already: nothing is pulled. */
  build(tag: string, file: string, context: string, ...args: readonly string[]): void {
    // HEALTHCHECK is known to the format of Docker only.
    const fixed = ['--format', 'docker', '--layers=false', '--pull-never', '--quiet'];
    this.run('build', ...fixed, '--tag', tag, '--file', file, ...args, context);
  }

  [Symbol.dispose](): void {
    this.run('rm', '--all');
    const mounted = readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .filter((line) => line.includes(this.folder));
    // Removing what is mounted would remove what is on the other side.
    if (mounted.length > 0) throw new Error(`Expected nothing to be mounted, found:\n${mounted.join('\n')}`);
    rmSync(this.folder, { recursive: true });
  }
}
