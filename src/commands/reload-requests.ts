import type { CommandIo } from './command.ts';

/**
 * What the operator asks for by SIGHUP, from the first moment on: whoever asks before there is anything to reload is
 * not turned away, let alone by the end of the process, but served as soon as there is.
 */
export class ReloadRequests {
  #reload: (() => void) | undefined;
  #isWaiting = false;

  constructor({ onReload }: Pick<CommandIo, 'onReload'>) {
    onReload(() => this.#request());
  }

  /** From now on each request is served by this; first, where there were any, those that waited. */
  serveBy(reload: () => void): void {
    this.#reload = reload;
    if (this.#isWaiting) reload();
    this.#isWaiting = false;
  }

  #request(): void {
    if (this.#reload === undefined) this.#isWaiting = true;
    else this.#reload();
  }
}
