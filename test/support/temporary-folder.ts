import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary folder. Disposal removes it. */
export class TemporaryFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'xvs-test-'));

  at(name: string): string {
    return join(this.path, name);
  }

  /** Replaces a file atomically. */
  replace(name: string, text: string): void {
    writeFileSync(this.at(`${name}.new`), text);
    renameSync(this.at(`${name}.new`), this.at(name));
  }

  /** Replaces a symbolic link atomically, as Kubernetes does with `..data`. */
  link(name: string, target: string): void {
    symlinkSync(target, this.at(`${name}.new`));
    renameSync(this.at(`${name}.new`), this.at(name));
  }

  remove(name: string): void {
    rmSync(this.at(name));
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
