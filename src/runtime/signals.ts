/** `process`, as far as it delivers signals. */
type SignalSource = Pick<NodeJS.EventEmitter, 'on' | 'off'>;

/**
 * Aborts on the first SIGINT or SIGTERM, which `hasStopped` tells if it came before. The second one has the
 * default effect: it kills the process.
 */
export function abortOnSignals(signals: SignalSource, hasStopped: () => boolean = () => false): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => {
    signals.off('SIGINT', abort);
    signals.off('SIGTERM', abort);
    controller.abort();
  };
  signals.on('SIGINT', abort);
  signals.on('SIGTERM', abort);
  if (hasStopped()) abort();
  return controller.signal;
}
