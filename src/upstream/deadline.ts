import { linkAbort } from '../runtime/abort.ts';
import { UpstreamError } from './errors.ts';

/** The deadline of one request, to be disposed of when the request has ended. */
export interface Deadline extends Disposable {
  /** Aborts with an {@link UpstreamError} `timeout`, or with the reason of the outer signal. */
  readonly signal: AbortSignal;
}

/** Starts the deadline of a request that also ends when `outer` aborts. */
export function startDeadline(timeoutMs: number, outer: AbortSignal): Deadline {
  const linked = linkAbort(outer);
  const timer = setTimeout(
    () => linked.abort(new UpstreamError('timeout', 'The poll exceeded its timeout')),
    timeoutMs,
  );
  return {
    signal: linked.signal,
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      linked[Symbol.dispose]();
    },
  };
}
