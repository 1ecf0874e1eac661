/** `process`, as far as it delivers signals. */
type SignalSource = Pick<NodeJS.EventEmitter, 'on' | 'off'>;

/** Aborts on the first SIGINT or SIGTERM. The second one has the default effect: it kills the process. */
export function abortOnSignals(signals: SignalSource): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => {
    signals.off('SIGINT', abort);
    signals.off('SIGTERM', abort);
    controller.abort();
  };
  signals.on('SIGINT', abort);
  signals.on('SIGTERM', abort);
  return controller.signal;
}

/** From now on, SIGHUP does not kill the process. One before the listener is set calls it at once then. */
export function listenForReloadSignal(signals: SignalSource): (listener: () => void) => void {
  let onReload: (() => void) | undefined;
  let isPending = false;
  signals.on('SIGHUP', () => {
    isPending = true;
    onReload?.();
  });
  return (listener) => {
    onReload = listener;
    if (isPending) listener();
  };
}
