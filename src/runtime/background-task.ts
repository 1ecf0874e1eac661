/** Something that runs in the background until it is disposed of; disposing waits for its end. */
export class Loop implements AsyncDisposable {
  readonly #stop = new AbortController();
  readonly #end: Promise<void>;

  /**
   * Begins to run what is to reject with the signal's reason when that aborts. With whatever else it rejects, `failed`
   * is called: a mistake of the program.
   */
  constructor(run: (signal: AbortSignal) => Promise<never>, failed: (error: unknown) => void) {
    const { signal } = this.#stop;
    this.#end = run(signal).catch((error: unknown) => {
      if (error !== signal.reason) failed(error);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#end;
  }
}
