/** One shared reason: an error with a stack of its own costs more than the rest of an abort. */
const DISPOSED = new Error('The operation has ended');

/** A signal that follows an outer one. Disposal unlinks and aborts it, which ends what still waits for it. */
export interface LinkedAbort extends Disposable {
  readonly signal: AbortSignal;
  /** Aborts this signal alone. */
  abort(reason?: unknown): void;
}

/**
 * Makes a signal that aborts with the outer one, for the same reason, or by itself. On Node.js 20, a
 * long-lived signal never releases the listeners of `AbortSignal.any` and `AbortSignal.timeout`.
 */
export function linkAbort(outer: AbortSignal | undefined): LinkedAbort {
  const controller = new AbortController();
  const abort = (reason?: unknown): void => controller.abort(reason);
  const follow = (): void => abort(outer?.reason);
  outer?.addEventListener('abort', follow, { once: true });
  if (outer?.aborted === true) follow();
  return {
    signal: controller.signal,
    abort,
    [Symbol.dispose]: () => {
      outer?.removeEventListener('abort', follow);
      abort(DISPOSED);
    },
  };
}

/**
 * Settles with the promise, or rejects with the reason of the signal if it aborts first. The listener is
 * removed: it would keep all that a request has touched alive beyond the young generation of the heap.
 */
export async function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let fail = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    fail = () => reject(signal.reason);
    signal.addEventListener('abort', fail, { once: true });
    if (signal.aborted) fail();
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', fail);
  }
}

export function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
