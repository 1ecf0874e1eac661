import { UpstreamError } from './errors.ts';

/** A signal for one request, which must be disposed of when the request is over. */
export interface Deadline extends Disposable {
  /** Aborts with an {@link UpstreamError} `timeout`, or with the reason of the outer signal. */
  readonly signal: AbortSignal;
}

/**
 * Starts the time that a request may take in all.
 *
 * Not `AbortSignal.any` and `AbortSignal.timeout`: on Node 20, what they hang on an outer signal that lives as long
 * as the process is never given back.
 */
export function startDeadline(timeoutMs: number, outer: AbortSignal): Deadline {
  const controller = new AbortController();
  const expire = (): void => {
    controller.abort(new UpstreamError('timeout', 'The poll took longer than it may'));
  };
  const follow = (): void => {
    controller.abort(outer.reason);
  };
  const timer = setTimeout(expire, timeoutMs);
  outer.addEventListener('abort', follow, { once: true });
  if (outer.aborted) {
    follow();
  }
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      outer.removeEventListener('abort', follow);
    },
  };
}

/**
 * Settles with the promise, or rejects with the signal's reason when it aborts first. What the promise comes to
 * afterwards goes unheeded. Nothing stays on the signal: with a listener left there, all that a request has touched
 * outlives the quick rounds of the garbage collector, though the signal ends with the request. With a thousand service
 * codes that was three quarters of what it had to promote.
 */
export async function beforeAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
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
