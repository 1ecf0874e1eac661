/** `poll.stale_after` → `XVS_POLL_STALE_AFTER`. */
export function environmentName(path: string): string {
  return `XVS_${path.replaceAll('.', '_').toUpperCase()}`;
}

/** `poll.stale_after` → `--poll.stale-after`. */
export function flagName(path: string): string {
  return `--${path.replaceAll('_', '-')}`;
}

/** `poll.stale_after` → `poll`; a key that stands alone has the group ''. */
export function groupOf(path: string): string {
  const dot = path.indexOf('.');
  return dot < 0 ? '' : path.slice(0, dot);
}
