/** Where signals come from. */
interface Signals {
  on(name: 'SIGHUP', listener: () => void): unknown;
}

/**
 * Hears SIGHUP from now on, which otherwise ends the process. The result takes who is to be called at each; whoever
 * comes late is called at once if there was one before.
 */
export function hearReloads(signals: Signals): (listener: () => void) => void {
  let serve: (() => void) | undefined;
  let hasCome = false;
  signals.on('SIGHUP', () => {
    hasCome = true;
    serve?.();
  });
  return (listener) => {
    serve = listener;
    if (hasCome) listener();
  };
}
