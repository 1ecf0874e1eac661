const DURATION = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;
const DURATION_UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;

const SIZE = /^(\d+)(B|KiB|MiB|GiB|KB|MB|GB)?$/;
const SIZE_UNITS: ReadonlyMap<string, number> = new Map([
  ['B', 1],
  ['KiB', 2 ** 10],
  ['MiB', 2 ** 20],
  ['GiB', 2 ** 30],
  ['KB', 1e3],
  ['MB', 1e6],
  ['GB', 1e9],
]);

/**
 * A duration as Prometheus writes it (`500ms`, `15s`, `1h30m`, `0`; units from large to small, each at
 * most once) in milliseconds; undefined if the text is none.
 */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const match = DURATION.exec(text);
  if (match === null || text === '') return undefined;
  const ms = DURATION_UNITS.reduce((sum, [, unit], index) => sum + Number(match[index + 1] ?? 0) * unit, 0);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/** Milliseconds as the shortest text that {@link parseDuration} reads: `1m30s`, `0s`. */
export function formatDuration(ms: number): string {
  let rest = ms;
  let text = '';
  for (const [name, unit] of DURATION_UNITS) {
    const count = Math.floor(rest / unit);
    rest -= count * unit;
    if (count > 0) text += `${count}${name}`;
  }
  return text === '' ? '0s' : text;
}

/** A size (`1024`, `64KiB`, `1GB`) in bytes; undefined if the text is none. */
export function parseSize(text: string): number | undefined {
  const match = SIZE.exec(text);
  if (match === null) return undefined;
  const bytes = Number(match[1]) * (SIZE_UNITS.get(match[2] ?? 'B') ?? 1);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
