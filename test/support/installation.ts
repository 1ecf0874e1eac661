import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readRepositoryFile, repositoryPath } from './repository.ts';
import { TemporaryFolder } from './temporary-folder.ts';

/** A copy of the built program whose packages are links, as installers with a store of packages make them. */
export class LinkedInstallation extends TemporaryFolder {
  readonly programPath = this.at('dist/main.js');

  constructor() {
    super();
    for (const name of ['dist', 'package.json'])
      cpSync(repositoryPath(name), this.at(name), { recursive: true });
    // Only the dependencies of the program itself: those of its packages are beside the targets of the links.
    const { dependencies } = JSON.parse(readRepositoryFile('package.json'));
    for (const name of Object.keys(dependencies)) this.#link(name, repositoryPath('node_modules', name));
  }

  /** Copies a package without the packages that it depends on, as if those were not installed. */
  isolate(name: string): void {
    const copy = this.at(join('store/node_modules', name));
    cpSync(repositoryPath('node_modules', name), copy, { recursive: true });
    this.remove(join('node_modules', name));
    this.#link(name, copy);
  }

  #link(name: string, target: string): void {
    const path = this.at(join('node_modules', name));
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path);
  }
}
