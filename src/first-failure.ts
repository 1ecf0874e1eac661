/** Where what runs in the background reports that something is wrong with the program. */
export class FirstFailure {
  /** Never resolves; rejects with the first error that is reported. */
  readonly promise: Promise<never>;
  /** Takes an error; from the second on without effect. */
  readonly report: (error: unknown) => void;

  constructor() {
    let reject: (error: unknown) => void = () => undefined;
    this.promise = new Promise<never>((_resolve, rejectPromise) => {
      reject = rejectPromise;
    });
    this.report = reject;
  }
}
