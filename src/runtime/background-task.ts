/** A loop that runs in the background until it is disposed of. */
export class BackgroundTask implements AsyncDisposable {
  readonly #abortController = new AbortController();
  readonly #finished: Promise<void>;

  /** `run` has to reject with the signal's reason when it aborts; any other rejection goes to `onFailure`. */
  constructor(run: (signal: AbortSignal) => Promise<never>, onFailure: (error: unknown) => void) {
    const { signal } = this.#abortController;
    this.#finished = run(signal).catch((error: unknown) => {
      if (error !== signal.reason) onFailure(error);
    });
  }

  /** Aborts the loop and waits until it has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#abortController.abort();
    await this.#finished;
  }
}

/** Collects unexpected errors of background tasks. */
export class FirstFailure {
  /** Never resolves; rejects with the first reported error. */
  readonly promise: Promise<never>;
  /** Reports an error; only the first one counts. */
  readonly report: (error: unknown) => void;

  constructor() {
    let reject: (error: unknown) => void = () => undefined;
    this.promise = new Promise<never>((_resolve, rejectPromise) => {
      reject = rejectPromise;
    });
    this.report = reject;
  }
}
