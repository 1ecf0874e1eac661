import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs a program and returns its stdout. Throws with its output unless it exits with 0. */
export function runTool(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    maxBuffer: 256 * 1024 * 1024,
  });
  if (status === 0) return stdout;
  const reason = error?.message ?? `${stdout}${stderr}`;
  throw new Error(`Expected ${command} ${args.join(' ')} to exit with 0, found ${status}:\n${reason}`);
}

/** Runs Buildah with images, containers and temporary files in a temporary folder, which disposal removes. */
export class Buildah implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'xvs-image-'));
  readonly #env: Readonly<Record<string, string>>;

  constructor() {
    const temporary = this.path('tmp');
    mkdirSync(temporary);
    // Other isolation modes need cgroups and mounts, which containers of CI services lack.
    this.#env = { BUILDAH_ISOLATION: 'chroot', TMPDIR: temporary, HOME: this.folder };
  }

  /** Returns a path in the temporary folder. */
  path(...names: readonly string[]): string {
    return join(this.folder, ...names);
  }

  /** Environment variables of Buildah commands. */
  get environment(): Readonly<Record<string, string>> {
    return this.#env;
  }

  /** Adds the storage in the temporary folder to the arguments of a command. */
  createArgs(...args: readonly string[]): string[] {
    const storage = ['--root', this.path('storage'), '--runroot', this.path('run')];
    return [...storage, '--storage-driver', 'vfs', ...args];
  }

  /** Runs a command and returns its trimmed stdout. */
  run(...args: readonly string[]): string {
    return runTool('buildah', this.createArgs(...args), this.#env).trim();
  }

  /** Builds a Dockerfile from local images, without pulling. */
  build(tag: string, file: string, context: string, ...args: readonly string[]): void {
    // Only the Docker format supports HEALTHCHECK.
    const fixed = ['--format', 'docker', '--layers=false', '--pull-never', '--quiet'];
    this.run('build', ...fixed, '--tag', tag, '--file', file, ...args, context);
  }

  [Symbol.dispose](): void {
    this.run('rm', '--all');
    const mounted = readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .filter((line) => line.includes(this.folder));
    // Removing a mounted folder would remove the files of its source.
    if (mounted.length > 0) throw new Error(`Expected no mounts, found:\n${mounted.join('\n')}`);
    rmSync(this.folder, { recursive: true });
  }
}
